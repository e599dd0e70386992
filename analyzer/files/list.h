/*
 * list.h: files of one value an entry: text with one a line (a byte order mark, blank lines and CR LF are let pass), or
 * a NumPy array of one dimension, of whole numbers or strings. Every value is passed on as text.
 */
#ifndef LIST_H
#define LIST_H

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

enum list_kind { LIST_IDS, LIST_LABELS }; /* labels may also be below 0, or truth values, which become 0 and 1 */

/* "-" is standard input, which is text. `visit` gets each value with the line (from 1) or row (from 0) it stands in; a
 * negative code of its ends the reading. *unit is "line" or "row", and set before the first visit. */
int list_read(const char *path, enum list_kind kind, const char **unit,
              int (*visit)(void *context, uint64_t place, const char *value, size_t length,
                           struct portolan_error *error),
              void *context, struct portolan_error *error);

#endif
