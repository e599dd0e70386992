/* start.h: what the main() of each of Portolan's programs does before all else. A library does not: the process is its
 * caller's. */
#ifndef PORTOLAN_START_H
#define PORTOLAN_START_H

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * If whoever starts the program has closed a standard stream (0, 1 or 2), opens it, so that no other file gets its
 * number: messages would go into that file. The opened stream can be neither read nor written, by its number or as
 * /dev/stdout. So reading standard input, or writing results, still fails as with a closed stream.
 *
 * A child that ends leaves its status for the parent, also if whoever starts the program ignores SIGCHLD.
 *
 * If a file reaches its size limit (ulimit -f), write() shall fail, with a message, and no signal end the program.
 */
static inline void
start_main(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/", O_PATH); /* gets the lowest number that is free */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN);
}

#endif
