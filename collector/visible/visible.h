/*
 * visible.h: makes invisible characters of a text visible. Names of runs, labels and ids may hold any character: some
 * move the cursor, change the order in which others are shown, or make two names look the same.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#include <stddef.h>

#define VISIBLE_GROWTH 6 /* the most bytes of a copy per byte of its text */
#define VISIBLE_LINE_MAX 4096

/*
 * Copies UTF-8. Control characters other than tab and newline, format characters and characters without width become
 * \uXXXX, as in JSON (two of them beyond U+FFFF): JSON stays JSON with the same meaning. Bytes that are no UTF-8 stay
 * as they are. `to` has room for VISIBLE_GROWTH × size bytes; returns how many were used.
 */
size_t visible_copy(char *to, const char *from, size_t size);

/* As visible_copy(), for a string that is changed in place. It is cut off, between characters, where it gets longer
 * than room − 1 or VISIBLE_LINE_MAX. */
void visible_line(char *line, size_t room);

#endif
