/* pager.h: shows a text that may be longer than the terminal, for the help. */
#ifndef PAGER_H
#define PAGER_H

#include <stddef.h>

/* Writes the text to standard output. On a terminal with fewer lines it goes through $PAGER, or else less; if neither
 * can be run, it is written as it is. −1 and errno: standard output cannot be written. */
int pager_show(const char *text, size_t length);

/* The number of lines that the text takes on a terminal with so many columns (at least 1), where longer lines are
 * broken. */
size_t pager_lines(const char *text, size_t length, size_t columns);

#endif
