/*
 * visible.h: text for people, with nothing in it that they cannot see. Names of runs, labels and ids may hold any
 * character: some move the cursor, change the order others are shown in, or leave two names looking the same.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#include <stddef.h>

#define VISIBLE_GROWTH 6 /* times as many bytes, at most */
#define VISIBLE_LINE_MAX 4096

/*
 * Copies UTF-8, with control characters other than tab and newline, format characters and those that take no room as
 * \uXXXX, as JSON has it (two of them beyond U+FFFF): JSON stays JSON, and means the same. What is no UTF-8 stays as it
 * is. `to` has room for VISIBLE_GROWTH × size; answers how much of it was used.
 */
size_t visible_copy(char *to, const char *from, size_t size);

/* The same for a string that is changed in place, cut off (between characters) where it gets longer than room − 1 or
 * VISIBLE_LINE_MAX. */
void visible_line(char *line, size_t room);

#endif
