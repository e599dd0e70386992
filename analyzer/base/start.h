/* start.h: starts another program as a child process that never outlives the thread that started it, for commands that
 * ask other programs, and for the live page. */
#ifndef BASE_START_H
#define BASE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts a program, a path or a name that is found on $PATH, with nothing on its standard input. Gives it standard output,
 * standard error (messages; −1: none) and `file_count` other files (−1: none), which keep their numbers. `is_alone`: it
 * gets nothing else that is open. Without it, it also gets what this program's caller has left open, as a shell's
 * <(…). No signal is blocked in it. The kernel sends it SIGTERM when the calling thread ends, however that comes about.
 * Returns 0, or the errno. The caller waits for the child's end. */
int start_program(char *const arguments[], bool is_alone, int output, int messages, const int files[],
                  size_t file_count, pid_t *child);

/* All that a program wrote to a file, with a NUL after it; the caller's to free(). NULL: it cannot be read. */
char *start_read(int file, size_t *size);

#endif
