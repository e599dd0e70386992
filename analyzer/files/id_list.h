/*
 * id_list.h: files of ids: text with one id a line (a byte order mark, blank lines and CR LF are let pass), or a NumPy
 * array of one dimension, of whole numbers or strings.
 */
#ifndef ID_LIST_H
#define ID_LIST_H

#include <portolan/portolan.h>

#include <stddef.h>
#include <stdint.h>

/* "-" is standard input. `visit` gets each id with the line (from 1) or row (from 0) it stands in; a negative code of
 * its ends the reading. *unit is "line" or "row", and set before the first visit. */
int id_list_read(const char *path, const char **unit,
                 int (*visit)(void *context, uint64_t place, const char *id, size_t length,
                              struct portolan_error *error),
                 void *context, struct portolan_error *error);

#endif
