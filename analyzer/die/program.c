/* program.c: starts programs for commands that run and end (program.h). */
#include "program.h"

#include "die.h"

#include "base/start.h"

#include <errno.h>
#include <sys/wait.h>

int
program_wait(pid_t child)
{
	int status = 0;

	die_without(child);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int
program_spawn(char *const arguments[], int output, int messages, const int files[PROGRAM_FILES], pid_t *child)
{
	int refused = start_program(arguments, false, output, messages, files, PROGRAM_FILES, child);

	if (refused == 0)
		die_with(*child);
	return refused;
}
