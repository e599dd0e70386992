/*
 * die.h: the end of a command that cannot go on: a message on stderr, and an exit status.
 *
 * For commands that run and end. Their store is only read, and an output has no name, or a temporary one that die()
 * removes, until it is whole. So there is nothing to save, and handing a failure up through every function would only
 * hide what these functions do. What a program that goes on is made of (`serve`, and every floor below it) does not name
 * this floor, and returns errors. So does the work of a struct parallel for what is wrong with its part: then the first
 * part's error is told, after the results of those before it.
 *
 * Any thread. No other thread needs to be stopped first, and no memory released.
 */
#ifndef DIE_H
#define DIE_H

#include <portolan/portolan.h>

#include <sys/types.h>

/* Where functions of lower floors say why they failed, for must(). Each thread has its own. */
extern _Thread_local struct portolan_error failure;

/* Ends the program if `code`, what a function returned that was given `&failure`, is negative. Else returns it:
 *     must(corpus_open(&corpus, path, &failure)); */
int must(int code);

/* Ends the program: "portolan: ", the message, and STATUS_FAILED, or what die_through() says in its place. */
__attribute__((format(printf, 1, 2), noreturn, cold)) void die(const char *format, ...);

/* A child process that die() ends, by SIGKILL, and waits for, so that nobody else has to; and one that has ended. At most
 * DIE_CHILDREN at a time; further ones are left to the kernel. */
#define DIE_CHILDREN 4
void die_with(pid_t child);
void die_without(pid_t child);

/* From now on, `end` prints the message in place of die(), and returns the exit status. NULL: nothing does. */
void die_through(int (*end)(const char *message));

#endif
