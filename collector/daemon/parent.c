/*
 * parent.c: lets the collector go on in the background, and tells whoever started it (the parent process or the service
 * manager) whether it serves.
 *
 * To go on in the background the process forks, takes a session of its own (so that Ctrl-C in the terminal does not
 * reach it), and closes all descriptors of the caller, so that a reader of the caller's output sees its end. The
 * address of the service manager is a socket file, or, with @ for its first character, an abstract name.
 */
#include "parent.h"

#include <portolan/error.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGE_SIZE 504

/* Waits, in the first process, for the answer of the second, and ends with it. */
static void
parent_wait_for_child(int fd)
{
	char message[MESSAGE_SIZE];
	ssize_t size;

	while ((size = read(fd, message, sizeof(message))) < 0 && errno == EINTR)
		;
	if (size != sizeof(message))
		snprintf(message, sizeof(message), "the collector died while it started");
	if (message[0])
		fprintf(stderr, "portoland: %s\n", message);
	_exit(message[0] ? 1 : 0);
}

/* Closes all descriptors from this one on. By the call's number, as glibc has close_range() from 2.34 on only; and Linux
 * from 5.9 on: before (RHEL 8), each open descriptor is looked up. */
static void
parent_close_files(int from)
{
	const struct dirent *entry;
	DIR *folder;

	if (syscall(SYS_close_range, from, ~0u, 0) == 0)
		return;
	folder = opendir("/proc/self/fd");
	while (folder && (entry = readdir(folder))) {
		int file = atoi(entry->d_name); /* of "." and "..": 0 */

		if (file >= from && file != dirfd(folder))
			close(file);
	}
	if (folder)
		closedir(folder);
}

int
parent_detach(int *parent, struct portolan_error *error)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make a pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot fork: %s", strerror(errno));
	if (child > 0) {
		close(ends[1]);
		parent_wait_for_child(ends[0]);
	}
	setsid();
	/* Moves the pipe to descriptor 3, and closes all descriptors above. */
	if (ends[1] != 3)
		dup3(ends[1], 3, O_CLOEXEC);
	parent_close_files(4);
	*parent = 3;
	return 0;
}

void
parent_log_to_file(const char *store)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), log = -1;
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/portoland.log", store) < (int)sizeof(path))
		log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(log >= 0 ? log : null, STDERR_FILENO);
		close(null);
	}
	if (log >= 0)
		close(log);
}

void
parent_answer(int *parent, const char *store, const char *message)
{
	char text[MESSAGE_SIZE] = "";
	ssize_t ignored;

	if (*parent < 0)
		return;
	if (!*message)
		parent_log_to_file(store);
	snprintf(text, sizeof(text), "%s", message);
	ignored = write(*parent, text, sizeof(text));
	(void)ignored;
	close(*parent);
	*parent = -1;
}

bool
parent_follow(pid_t starter)
{
	/* In this order: a parent that ended before the kernel was told is no longer the parent. */
	return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == starter;
}

void
parent_notify(const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	ssize_t ignored;
	int fd;

	if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	ignored = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	(void)ignored;
	close(fd);
}
