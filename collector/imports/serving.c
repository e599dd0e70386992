/*
 * serving.c: starting portoland, and waiting for its end.
 *
 * Who locks the store is its collector, so the lock says whether one is needed. Looking at the lock takes it for a
 * moment, and may keep another collector from starting: therefore a start is tried more than once. A pidfd tells when
 * the collector has ended, though it is no child of this process, and cannot mean another process.
 */
#include "serving.h"

#include <endpoint.h>
#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_SECONDS "0.25" /* also the time this process has to connect; if it is too late it starts another one */
#define TRIES 2

/* *holder: the process that has the lock, if the file says it; else 0. */
static bool
is_locked(const char *store, pid_t *holder)
{
	char path[PATH_MAX], text[32] = "";
	bool locked;
	int file;

	if (snprintf(path, sizeof(path), "%s/" ENDPOINT_LOCK_FILE, store) >= (int)sizeof(path))
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	locked = flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	*holder = read(file, text, sizeof(text) - 1) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
	close(file);
	return locked;
}

/* A session of its own, so that Ctrl-C does not reach it, and no signal blocked. Returns 0 or an errno. */
static int
spawn(const char *program, const char *store, int said, pid_t *child)
{
	const char *const arguments[] = {"portoland",        "--store",    store,      "--listen", "local",
	                                 "--exit-when-idle", IDLE_SECONDS, "--detach", NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int status;

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

/* Collects what the child says until it closes its stderr: then it can serve, or has said why not. */
static void
listen_to(int pipe, char *said, size_t room)
{
	size_t used = 0;
	ssize_t count;

	while ((count = read(pipe, said + used, room - 1 - used)) > 0 || (count < 0 && errno == EINTR))
		used += count > 0 ? (size_t)count : 0;
	while (used > 0 && said[used - 1] == '\n')
		used--;
	said[used] = '\0';
}

static int
await_start(pid_t child, int pipe, struct portolan_error *error)
{
	static const char own_name[] = "portoland: "; /* which this process says as well */
	char said[sizeof(error->message)];
	int status = 0;

	listen_to(pipe, said, sizeof(said));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	/* Where SIGCHLD is ignored, the status is lost; but who fails says why. */
	if (said[0] == '\0' && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (said[0] == '\0')
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "the collector ended while it started");
	return error_set(error, PORTOLAN_E_NO_COLLECTOR, "%s",
	                 said + (strncmp(said, own_name, strlen(own_name)) == 0 ? strlen(own_name) : 0));
}

static int
start(const char *store, struct portolan_error *error)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int pipes[2], status;
	pid_t child;

	if (length < 0 || pipe2(pipes, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start a collector: %s", strerror(errno));
	program[length] = '\0';
	status = spawn(program, store, pipes[1], &child);
	close(pipes[1]);
	if (status != 0)
		status = error_set(error, PORTOLAN_E_SYSTEM, "cannot start %.300s: %s", program, strerror(status));
	else
		status = await_start(child, pipes[0], error);
	close(pipes[0]);
	return status;
}

/* A collector that has no room on disk for its process number is not waited for. */
static void
keep_process(struct serving *serving, const char *store)
{
	pid_t holder;

	if (serving->process >= 0)
		close(serving->process);
	serving->process = -1;
	if (is_locked(store, &holder) && holder > 0)
		serving->process = (int)syscall(SYS_pidfd_open, holder, 0);
}

int
serving_begin(struct serving *serving, const char *store, struct portolan_error *error)
{
	pid_t holder;
	int result;

	for (int tries = 1; !is_locked(store, &holder); tries++) {
		result = start(store, error);
		if (result == 0) {
			keep_process(serving, store);
			return 1;
		}
		if (tries == TRIES && !is_locked(store, &holder))
			return result;
	}
	return 0;
}

bool
serving_has_left(struct serving *serving, int timeout_ms)
{
	struct pollfd item = {.fd = serving->process, .events = POLLIN};

	if (serving->process < 0)
		return true;
	if (poll(&item, 1, timeout_ms) == 0)
		return false;
	close(serving->process);
	serving->process = -1;
	return true;
}

void
serving_stop(const struct serving *serving)
{
	if (serving->process >= 0)
		syscall(SYS_pidfd_send_signal, serving->process, SIGTERM, NULL, 0);
}
