/*
 * claims.h: makes sure that no output of a command replaces one of its inputs, or another output: a list of the files
 * that the command reads and writes.
 *
 * The files in options are claimed before anything is read or written; output_open() asks about every file that it is
 * about to write. Files are compared by device and inode, so links and other spellings of a path do not matter; a file
 * that does not exist yet by its directory and name. Only regular files count: devices and pipes may be named several
 * times.
 *
 * One list for the program. One thread.
 */
#ifndef CLAIMS_H
#define CLAIMS_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* Forgets all claims, before another command line is read. */
void claims_clear(void);

/* Claims a file that will be read. `what` names it in messages: "--join", "the manifest". "-" is standard input (of an
 * output: standard output). PORTOLAN_E_INVALID: standard input is claimed already, and can be read only once. */
int claims_add_input(const char *what, const char *path, struct portolan_error *error);

/* Claims a file that will be written. PORTOLAN_E_INVALID: it is an input, or another output. */
int claims_add_output(const char *what, const char *path, struct portolan_error *error);

/* Asks about `path`, which is about to be written. PORTOLAN_E_INVALID: it is an input, or an output that was claimed
 * under another path. */
int claims_check(const char *path, struct portolan_error *error);

/* Was a file refused since claims_clear()? Then the command line is wrong, even if that came out late. */
bool claims_were_refused(void);

#endif
