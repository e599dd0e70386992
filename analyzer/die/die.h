/*
 * die.h: ends a command of portolan that cannot go on, with a message on stderr and an exit status.
 *
 * For the commands that run and end (`map`, `show`, …). Code that `serve` shares does not include this file, and
 * neither does any folder below this one: such code returns errors, as the program goes on after them. The work of a
 * struct parallel returns what it finds wrong with its part, too: then the first part's error is told, after the results
 * of the parts before it.
 *
 * Nothing is lost when die() ends a command. The command only reads its store. Until an output is whole, it has no
 * name, or a temporary one that die() removes. Handing each failure up through every function would only hide what
 * these functions do.
 *
 * Any thread may call die(). It need not first stop other threads or release memory.
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
