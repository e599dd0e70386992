/* start.c: starts another program as a child process (start.h). The kernel ends the child when the thread that started
 * it ends. posix_spawn() cannot ask for that, so this file uses vfork() and prctl(). */
#include "start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Has the program find nothing open but its standard files. close_range() can say so from Linux 5.11 on; before, each
 * open file is looked up. Both are asked for by number, as glibc 2.28 has no function for them. Nothing is allocated:
 * the memory is the parent's. False: errno says what failed. */
static bool
start_mark_files(void)
{
	_Alignas(struct dirent64) char entries[2048];
	ssize_t size = -1;
	int folder;

	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return true;
	folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (folder >= 0 && (size = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
			int file = atoi(entry->d_name); /* of "." and "..": 0 */

			if (file > STDERR_FILENO && fcntl(file, F_SETFD, FD_CLOEXEC) < 0)
				return false;
			at += entry->d_reclen;
		}
	return size == 0;
}

/* Replaces this new process by the program. If it returns, errno says what failed. A descriptor of −1 stands for no
 * file. */
static void
start_become(char *const arguments[], pid_t parent, bool is_alone, int output, int messages, const int files[],
             size_t file_count)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* getppid() comes last: if the parent ended before prctl(), its end will not end this process. */
	if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		return;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(messages >= 0 ? messages : null, STDERR_FILENO) < 0)
		return;
	if (is_alone && !start_mark_files()) /* LMDB's data file, for one, would stay open */
		return;
	for (size_t i = 0; i < file_count; i++)
		if (files[i] >= 0 && fcntl(files[i], F_SETFD, 0) < 0)
			return;
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(arguments[0], arguments);
}

char *
start_read(int file, size_t *size)
{
	struct stat written;
	char *bytes;
	size_t used = 0;
	ssize_t got = 1;

	if (fstat(file, &written) != 0 || !(bytes = malloc((size_t)written.st_size + 1)))
		return NULL;
	while (got > 0 && used < (size_t)written.st_size) {
		got = pread(file, bytes + used, (size_t)written.st_size - used, (off_t)used);
		used += got > 0 ? (size_t)got : 0;
	}
	bytes[used] = '\0';
	*size = used;
	return bytes;
}

/* vfork() holds this thread until the program has begun, and shares the memory until then: a copy of a large process
 * would take longer than gnuplot. */
int
start_program(char *const arguments[], bool is_alone, int output, int messages, const int files[], size_t file_count,
              pid_t *child)
{
	const pid_t parent = getpid();
	volatile int refused = 0;
	const pid_t started = vfork();

	if (started < 0)
		return errno;
	if (started == 0) {
		start_become(arguments, parent, is_alone, output, messages, files, file_count);
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
