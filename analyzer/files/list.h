/*
 * list.h: reads a user's file that lists ids or labels, for options such as --only and --feature-ids. The file is text
 * with one value a line, or a NumPy array of one dimension, of whole numbers or strings. Every value is passed on as
 * text. Text may have a byte order mark, blank lines and CR LF.
 */
#ifndef LIST_H
#define LIST_H

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

/* a list of labels may have numbers below 0, and truth values, which become 0 and 1 */
enum list_kind { LIST_IDS, LIST_LABELS };

/* Calls `visit` with each value, and with the line (from 1) or the row (from 0) where it is. A negative result of
 * `visit` ends the reading, and is returned. *unit becomes "line" or "row" before the first call. "-" is standard
 * input, which must be text. */
int list_read(const char *path, enum list_kind kind, const char **unit,
              int (*visit)(void *context, uint64_t place, const char *value, size_t length,
                           struct portolan_error *error),
              void *context, struct portolan_error *error);

#endif
