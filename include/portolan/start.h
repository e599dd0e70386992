/* start.h: what the main() of each of Portolan's programs does before all else. A library does not: the process is its
 * caller's. */
#ifndef PORTOLAN_START_H
#define PORTOLAN_START_H

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * A standard stream that the caller has closed is opened, so that no file gets its number: messages would go into that
 * file. It becomes one that can neither be read nor written, by its number or as /dev/stdout, so that reading standard
 * input, or writing results, fails as on a closed one.
 *
 * A file that reaches its size limit (ulimit -f) becomes an error of write(), with a message, and not a signal that
 * ends the program.
 */
static inline void
start_program(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/", O_PATH); /* the lowest number that is free */
	signal(SIGXFSZ, SIG_IGN);
}

#endif
