/*
 * embedded.c: starts portoland, the collector, for a run that has a store directory, so that its user need not start
 * one.
 *
 * The child gets a session of its own (so that Ctrl-C in the training loop does not reach it), default signals, no
 * descriptors but the three standard ones, and a pipe as stderr. Text that it writes there becomes the error message.
 * The application may ignore SIGCHLD or reap the child itself. Then its exit status is lost, and the start counts as
 * successful if the store is served.
 */
#include "embedded.h"

#include "directory.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_SECONDS "2"
#define SLICE_MS 50
#define RETRY_MS 20
#define TRIES 3
#define MAX_SAID 400

/* Is FOLDER/NAME a program? `path` gets that path. `length`: bytes of the folder's name. */
static bool
embedded_is_program(const char *folder, ptrdiff_t length, const char *name, char path[PATH_MAX])
{
	struct stat status;

	return snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name) < PATH_MAX && stat(path, &status) == 0 &&
	       S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Finds portoland beside this library: where both are installed, in a wheel, or in a build tree. */
static bool
embedded_find_beside_library(char path[PATH_MAX])
{
	static const char *const places[] = {"portoland", "../bin/portoland", "../../bin/portoland",
	                                     "../collector/portoland"};
	Dl_info library;
	const char *slash;

	if (!dladdr((void *)(uintptr_t)&embedded_start, &library) || !library.dli_fname)
		return false;
	slash = strrchr(library.dli_fname, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++)
		if (embedded_is_program(library.dli_fname, slash - library.dli_fname, places[i], path))
			return true;
	return false;
}

static bool
embedded_find_in_path(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH"), *end;

	for (folders = folders ? folders : "/bin:/usr/bin"; *folders; folders = *end ? end + 1 : end) {
		end = strchrnul(folders, ':');
		if (embedded_is_program(folders, end - folders, name, path))
			return true;
	}
	return false;
}

static char *
embedded_find_program(const char *given)
{
	const char *variable = getenv("PORTOLAND");
	char path[PATH_MAX];

	if (!given && variable && variable[0])
		given = variable;
	if (given && strchr(given, '/'))
		return strdup(given);
	return (!given && embedded_find_beside_library(path)) ||
	                       embedded_find_in_path(given ? given : "portoland", path)
	               ? strdup(path)
	               : NULL;
}

/* A copy of the environment in one piece of memory: the pointers, and behind them the strings. */
static char **
embedded_copy_environment(void)
{
	size_t count = 0, size = 0;
	char **copy, *text;

	for (; environ && environ[count]; count++)
		size += strlen(environ[count]) + 1;
	copy = malloc((count + 1) * sizeof(*copy) + size);
	if (!copy)
		return NULL;
	text = (char *)(copy + count + 1);
	for (size_t i = 0; i < count; i++) {
		copy[i] = text;
		text = stpcpy(text, environ[i]) + 1;
	}
	copy[count] = NULL;
	return copy;
}

int
embedded_init(struct embedded *embedded, const char *store, const char *program, struct portolan_error *error)
{
	int status;

	*embedded = (struct embedded){.endpoint.directory = -1};
	status = directory_make(store, "store", NULL, error);
	if (status == 0)
		status = endpoint_open(store, &embedded->endpoint, error);
	if (status < 0)
		return status;
	embedded->store = realpath(store, NULL);
	embedded->program = embedded_find_program(program);
	embedded->environment = embedded_copy_environment();
	if (!embedded->store || !embedded->environment) {
		embedded_deinit(embedded);
		return error_set(error, PORTOLAN_E_MEMORY, "store %s: %s", store, strerror(errno));
	}
	return 0;
}

void
embedded_deinit(struct embedded *embedded)
{
	free(embedded->store);
	free(embedded->program);
	free(embedded->environment);
	endpoint_close(&embedded->endpoint);
	*embedded = (struct embedded){.endpoint.directory = -1};
}

bool
embedded_is_served(const struct embedded *embedded)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	bool served;
	int probe;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", embedded->endpoint.text + strlen("ipc://"));
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return false;
	served = connect(probe, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
	close(probe);
	return served;
}

/* Has the child close every file that is open here, but for the standard ones; glibc has a function for this from 2.34
 * on only. Returns 0 or an errno. */
static int
embedded_close_files(posix_spawn_file_actions_t *files)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	int status = 0;

	while (folder && status == 0 && (entry = readdir(folder))) {
		int file = atoi(entry->d_name); /* of "." and "..": 0 */

		if (file > STDERR_FILENO && file != dirfd(folder))
			status = posix_spawn_file_actions_addclose(files, file);
	}
	if (folder)
		closedir(folder);
	return status;
}

/* Starts the child process. Returns 0 or an errno. */
static int
embedded_spawn(const struct embedded *embedded, int stderr_pipe, pid_t *child)
{
	const char *const arguments[] = {embedded->program,  "--store",    embedded->store, "--listen", "local",
	                                 "--exit-when-idle", IDLE_SECONDS, "--detach",      NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int status = posix_spawn_file_actions_init(&files);

	if (status != 0)
		return status;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(&attributes); /* glibc's cannot fail */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	status = posix_spawn_file_actions_adddup2(&files, stderr_pipe, STDERR_FILENO);
	if (status == 0)
		status = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (status == 0)
		status = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (status == 0)
		status = embedded_close_files(&files);
	if (status == 0)
		status = posix_spawn(child, embedded->program, &files, &attributes, (char *const *)(uintptr_t)arguments,
		                     embedded->environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return status;
}

struct wait {
	int64_t deadline;
	int (*cancelled)(void *context);
	void *context;
};

static bool
embedded_time_is_up(const struct wait *wait)
{
	return clock_ms() >= wait->deadline || (wait->cancelled && wait->cancelled(wait->context) != 0);
}

/* Waits until the child ends, and reads what it writes to stderr as one line, `said`. *status: its exit status, or 0 if
 * the application has reaped the child. False: the time is up. */
static bool
embedded_await_child(pid_t child, int stderr_pipe, const struct wait *wait, char said[MAX_SAID], int *status)
{
	struct pollfd item = {.fd = stderr_pipe, .events = POLLIN};
	size_t length = 0;

	while (!embedded_time_is_up(wait)) {
		char chunk[256];
		ssize_t count = 0;
		pid_t answer;

		if (item.fd < 0) {
			answer = waitpid(child, status, WNOHANG);
			if (answer < 0 && errno != EINTR)
				*status = 0;
			if (answer == child || (answer < 0 && errno != EINTR))
				return true;
			poll(NULL, 0, 1);
			continue;
		}
		if (poll(&item, 1, SLICE_MS) <= 0 ||
		    ((count = read(stderr_pipe, chunk, sizeof(chunk))) < 0 && errno == EINTR))
			continue;
		if (count <= 0)
			item.fd = -1; /* the child has closed its stderr */
		for (ssize_t i = 0; i < count && length + 1 < MAX_SAID; i++)
			said[length++] = (unsigned char)chunk[i] < 0x20 ? ' ' : chunk[i];
		while (count <= 0 && length > 0 && said[length - 1] == ' ')
			length--;
		said[length] = '\0';
	}
	return false;
}

static int
embedded_start_once(const struct embedded *embedded, const struct wait *wait, struct portolan_error *error)
{
	char said[MAX_SAID] = "";
	int pipes[2], code, status = 0, result = 0;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_NO_COLLECTOR, "cannot make a pipe: %s", strerror(errno));
	code = embedded->program ? embedded_spawn(embedded, pipes[1], &child) : ENOENT;
	close(pipes[1]);
	if (code != 0) {
		result = error_set(error, PORTOLAN_E_NO_COLLECTOR,
		                   "cannot start %s: %s; install portoland, or name it in PORTOLAND",
		                   embedded->program ? embedded->program : "portoland", strerror(code));
	} else if (!embedded_await_child(child, pipes[0], wait, said, &status)) {
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			continue;
		result = error_set(error, PORTOLAN_E_NO_COLLECTOR, "portoland did not come up for store %s in time",
		                   embedded->store);
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || (said[0] && !embedded_is_served(embedded))) {
		result = error_set(error, PORTOLAN_E_NO_COLLECTOR, "cannot start a collector for store %s: %s",
		                   embedded->store, said[0] ? said : "portoland ended without saying why");
	}
	close(pipes[0]);
	return result;
}

/*
 * A start may fail because another collector holds the store's lock, and will soon listen, or soon end. So the start is
 * tried again while the lock is held. Once the lock is free, the start is tried a few times more: looking at the lock
 * takes it for a moment, and may so have kept a collector from starting, ours or that of another process.
 */
int
embedded_start(const struct embedded *embedded, int64_t deadline, int (*cancelled)(void *context), void *context,
               struct portolan_error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
	struct wait wait = {deadline, cancelled, context};

	for (int left = TRIES;;) {
		int status = embedded_start_once(embedded, &wait, error);
		long holder = 0;
		bool held;

		if (status == 0 || embedded_is_served(embedded))
			return 0;
		held = endpoint_is_locked(embedded->store, &holder);
		if (!held && --left == 0)
			return status;
		if (embedded_time_is_up(&wait) && held)
			return error_set(error, PORTOLAN_E_NO_COLLECTOR,
			                 "store %s is held by process %ld, which takes no connections (an import, or a "
			                 "portoland that starts or ends): wait for it, or stop it",
			                 embedded->store, holder);
		if (embedded_time_is_up(&wait))
			return status;
		nanosleep(&pause, NULL);
	}
}
