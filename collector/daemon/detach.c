/*
 * detach.c: fork, a session of its own (Ctrl-C in the terminal does not reach it), and no descriptor of the caller's:
 * whoever reads the caller's output must see its end.
 */
#include "detach.h"

#include <portolan/error.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome {
	int code;
	char message[504];
};

/* The first process: never returns. */
static void
wait_for_child(int fd)
{
	struct outcome outcome;
	ssize_t size;

	while ((size = read(fd, &outcome, sizeof(outcome))) < 0 && errno == EINTR)
		;
	if (size != sizeof(outcome))
		outcome = (struct outcome){.code = 1, .message = "the collector died while it started"};
	if (outcome.code != 0)
		fprintf(stderr, "portoland: %s\n", outcome.message);
	_exit(outcome.code);
}

int
detach_begin(struct detach *detach, const char *store, struct portolan_error *error)
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
		wait_for_child(ends[0]);
	}
	setsid();
	/* The pipe is moved to 3, and everything above goes. */
	if (ends[1] != 3) {
		dup3(ends[1], 3, O_CLOEXEC);
	}
	close_range(4, ~0u, 0);
	*detach = (struct detach){.pipe = 3, .store = store};
	return 0;
}

bool
detach_follow(pid_t starter)
{
	/* In this order: whoever ended before the kernel was told is no longer the parent. */
	return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == starter;
}

static void
tell(struct detach *detach, const struct outcome *outcome)
{
	ssize_t ignored;

	if (detach->pipe < 0)
		return;
	ignored = write(detach->pipe, outcome, sizeof(*outcome));
	(void)ignored;
	close(detach->pipe);
	detach->pipe = -1;
}

static int
open_log(const char *store)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/portoland.log", store);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -1;
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void
detach_ready(void *context)
{
	struct detach *detach = context;
	struct outcome outcome = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open_log(detach->store);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(log >= 0 ? log : null, STDERR_FILENO);
		close(null);
	}
	if (log >= 0)
		close(log);
	tell(detach, &outcome);
}

void
detach_failed(struct detach *detach, int code, const char *message)
{
	struct outcome outcome = {.code = code};

	snprintf(outcome.message, sizeof(outcome.message), "%s", message);
	tell(detach, &outcome);
}
