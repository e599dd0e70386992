/* candidates.h: what may stand next on a command line, from the tables of commands and options: for the completion of
 * every shell. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include <stdio.h>

/* Prints what may stand in place of the last of `words`, which are a command line without the program's name: a candidate
 * a line, then a tab and what it is, where that is known. A line that begins with a tab says that names of files may stand
 * there. Only what begins with the last word is printed; nothing where nothing is known. Runs are those of the store that
 * the line names, or else $PORTOLAN_STORE, or ./portolan-store; a store that cannot be read has none. */
void candidates_print(FILE *stream, char *const *words, int count);

/* Bytes of a help text's first sentence, without its full stop. */
size_t candidates_sentence(const char *help);

#endif
