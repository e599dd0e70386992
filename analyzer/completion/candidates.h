/* candidates.h: the words that may come next on a command line, from the tables of commands and options, for the
 * completion of every shell. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "options/command.h"

#include <stdio.h>

/* Prints the candidates for the last of `words`, a line of one of the `commands` (the list ends with NULL) without the
 * program's name: one a line, followed, if it
 * has a description, by a tab and the description. A line that begins with a tab stands for names of files. Only
 * candidates that begin with the last word are printed. Runs are those of the store that the line names, or else of
 * $PORTOLAN_STORE, or of ./portolan-store; a store that cannot be read has none. */
void candidates_print(FILE *stream, const struct command *const *commands, char *const *words, int count);

#endif
