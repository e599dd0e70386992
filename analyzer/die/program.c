/* program.c: starts programs for commands that run and end (program.h). The kernel ends such a child when the thread that
 * started it ends, however that comes about. posix_spawn() cannot ask for that, so this file uses vfork() and prctl(). */
#include "program.h"

#include "die.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int
program_wait(pid_t child)
{
	int status = 0;

	die_without(child);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Replaces this new process by the program. If it returns, errno says what failed. A descriptor of −1 stands for no
 * file. */
static void
program_become(char *const arguments[], pid_t parent, int output, int messages, const int files[PROGRAM_FILES])
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* getppid() comes last: if the parent ended before prctl(), its end will not end this process. */
	if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		return;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(messages >= 0 ? messages : null, STDERR_FILENO) < 0)
		return;
	for (int i = 0; i < PROGRAM_FILES; i++)
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
program_spawn(char *const arguments[], int output, int messages, const int files[PROGRAM_FILES], pid_t *child)
{
	const pid_t parent = getpid();
	volatile int refused = 0;
	const pid_t started = vfork();

	if (started < 0)
		return errno;
	if (started == 0) {
		program_become(arguments, parent, output, messages, files);
		refused = errno;
		_exit(127);
	}
	die_with(started);
	if (refused == 0)
		*child = started;
	else
		program_wait(started);
	return refused;
}
