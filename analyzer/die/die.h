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

/* Pass &failure to a function that returns a code: it writes there why it failed, and must() prints it. Each thread has
 * its own. */
extern _Thread_local struct portolan_error failure;

/* For the code of a function that was given &failure: ends the program if the code is negative, else returns it:
 *     must(corpus_open(&corpus, path, &failure)); */
int must(int code);

/* Prints "portolan: " and the message, and ends the program with STATUS_FAILED; die_through() can change both. */
__attribute__((format(printf, 1, 2), noreturn, cold)) void die(const char *format, ...);

/* die_with() names a child process that die() is to kill and to wait for; die_without() takes it back, before its end is
 * waited for. There may be DIE_CHILDREN at a time; die() leaves further ones alone. */
#define DIE_CHILDREN 4
void die_with(pid_t child);
void die_without(pid_t child);

/* From now on, die() has `end` print the message, and exits with the status that it returns. NULL: die() itself does
 * both, as at first. */
void die_through(int (*end)(const char *message));

#endif
