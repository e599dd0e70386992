/*
 * serving.c: starts portoland for a command, and waits for its end.
 *
 * A store's collector holds its lock, so the lock shows whether a collector must be started. Looking at the lock may
 * keep another collector from starting, so a start is tried more than once.
 *
 * The client library starts collectors differently (embedded.c): they outlive the process that started them, as other
 * ranks record there too. This collector must not go on holding the store when its command was killed.
 */
#include "serving.h"

#include <endpoint.h>
#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_SECONDS "0.25" /* also the time that this process has to connect; later it starts another one */
#define TRIES 2

/* Starts the program in a session of its own, so that Ctrl-C does not reach it, with no signal blocked. Returns 0 or an
 * errno. */
static int
serving_spawn(const char *program, const char *store, int said, pid_t *child)
{
	char starter[32];
	const char *const arguments[] = {"portoland",        "--store",    store,       "--listen", "local",
	                                 "--exit-when-idle", IDLE_SECONDS, "--starter", starter,    NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int status;

	snprintf(starter, sizeof(starter), "%d", (int)getpid());
	sigemptyset(&none);
	if ((status = posix_spawn_file_actions_init(&files)) != 0)
		return status;
	if ((status = posix_spawnattr_init(&attributes)) == 0) {
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&files, said, STDERR_FILENO);
		status = posix_spawn(child, program, &files, &attributes, (char **)(uintptr_t)arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return status;
}

/* Reads the child's stderr until it closes it: then it can serve, or has said why not. */
static int
serving_await_start(struct serving *serving, int pipe, struct portolan_error *error)
{
	static const char own_name[] = "portoland: "; /* the prefix, which this process prints itself */
	char said[sizeof(error->message)];
	size_t used = 0;
	ssize_t count;

	while ((count = read(pipe, said + used, sizeof(said) - 1 - used)) > 0 || (count < 0 && errno == EINTR))
		used += count > 0 ? (size_t)count : 0;
	while (used > 0 && said[used - 1] == '\n')
		used--;
	said[used] = '\0';
	if (used == 0 && !serving_has_left(serving))
		return 0;
	serving_stop(serving); /* the child has failed, and ends */
	if (used == 0)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "the collector ended while it started");
	return error_set(error, PORTOLAN_E_NO_COLLECTOR, "%s",
	                 said + (strncmp(said, own_name, strlen(own_name)) == 0 ? strlen(own_name) : 0));
}

static int
serving_start(struct serving *serving, const char *store, struct portolan_error *error)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int pipes[2], status;

	if (length < 0 || pipe2(pipes, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a collector: %s", strerror(errno));
	program[length] = '\0';
	status = serving_spawn(program, store, pipes[1], &serving->process);
	close(pipes[1]);
	if (status != 0)
		status = error_set(error, PORTOLAN_E_SYSTEM, "cannot start %.300s: %s", program, strerror(status));
	else
		status = serving_await_start(serving, pipes[0], error);
	close(pipes[0]);
	return status;
}

int
serving_begin(struct serving *serving, const char *store, struct portolan_error *error)
{
	int result;

	for (int tries = 1; !endpoint_is_locked(store, NULL); tries++) {
		result = serving_start(serving, store, error);
		if (result == 0)
			return 1;
		if (tries == TRIES && !endpoint_is_locked(store, NULL))
			return result;
	}
	return 0;
}

bool
serving_has_left(struct serving *serving)
{
	/* -1: if SIGCHLD is ignored, the kernel keeps nothing of a child that has ended. */
	if (serving->process > 0 && waitpid(serving->process, NULL, WNOHANG) != 0)
		serving->process = 0;
	return serving->process == 0;
}

void
serving_stop(const struct serving *serving)
{
	if (serving->process > 0)
		kill(serving->process, SIGTERM);
}
