/* start.c: starts another program as a child process (start.h). The kernel ends the child when the thread that started
 * it ends. posix_spawn() cannot ask for that, so this file uses vfork() and prctl(). */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Replaces this new process by the program. If it returns, errno says what failed. A descriptor of −1 stands for no
 * file. */
static void
start_become(char *const arguments[], pid_t parent, int output, int messages, const int files[], size_t file_count)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* getppid() comes last: if the parent ended before prctl(), its end will not end this process. */
	if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		return;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(messages >= 0 ? messages : null, STDERR_FILENO) < 0)
		return;
	(void)close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC); /* LMDB's data file, for one, would stay open */
	for (size_t i = 0; i < file_count; i++)
		if (files[i] >= 0 && fcntl(files[i], F_SETFD, 0) < 0)
			return;
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(arguments[0], arguments);
}

/* vfork() holds this thread until the program has begun, and shares the memory until then: a copy of a large process
 * would take longer than gnuplot. */
int
start_program(char *const arguments[], int output, int messages, const int files[], size_t file_count, pid_t *child)
{
	const pid_t parent = getpid();
	volatile int refused = 0;
	const pid_t started = vfork();

	if (started < 0)
		return errno;
	if (started == 0) {
		start_become(arguments, parent, output, messages, files, file_count);
		refused = errno;
		_exit(127);
	}
	if (refused == 0)
		*child = started;
	else
		while (waitpid(started, NULL, 0) < 0 && errno == EINTR)
			;
	return refused;
}
