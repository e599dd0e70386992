/* program.h: starts a program as a child that ends when this command does, for commands that ask other programs: gnuplot,
 * fontconfig, or portolan itself. */
#ifndef DIE_PROGRAM_H
#define DIE_PROGRAM_H

#include <sys/types.h>

#define PROGRAM_FILES 3 /* how many files a program gets beside its standard ones */

/* Starts a program, a path or a name that is found on $PATH, with nothing on its standard input. Gives it standard output,
 * standard error (messages; −1: none) and other files (−1: none), which keep their numbers; and what this command's caller
 * has left open for it. Returns 0, or the errno. While
 * it runs, die() ends it. It also ends with the thread that has started it. */
int program_spawn(char *const arguments[], int output, int messages, const int files[PROGRAM_FILES], pid_t *child);

/* Waits for its end. Returns the status, as waitpid() gives it. */
int program_wait(pid_t child);

#endif
