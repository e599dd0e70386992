/*
 * file_filters.h: applies what in a selection needs the user's own file, for the live page: filters on its columns and
 * on its texts, and axes that are its columns. regions/within.h applies the rest, and calls these functions.
 *
 * Also rewrites such a selection as a list of ids, so that programs that do not have the file can repeat it.
 */
#ifndef FILE_FILTERS_H
#define FILE_FILTERS_H

#include "searches.h"
#include "files/texts.h"
#include "views.h"

#include "output/report.h"
#include "regions/within.h"

struct file_filters {
	struct texts *texts;       /* NULL: no file; its columns are then refused, and texts sought in ids only */
	struct searches *searches; /* of the texts */
	const struct view *view;   /* whose examples are filtered */
};

/* Keeps the examples that pass one filter. For within_file.keep; `context` is a struct file_filters.
 * PORTOLAN_E_INVALID: the file has no such column or value. */
int file_filters_keep(void *context, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
                      struct portolan_error *error);

/* The values on an axis of the selection that is a column of the file. For within_file.values; `context` as above. */
int file_filters_values(void *context, const char *name, double **values, struct portolan_error *error);

/* Writes the members of the selection that choose examples, "x", "y", "polygon" or "parts", and "filters", in the form
 * that `select --within` reads. If filters need the file, or the axes of the polygons do, then these, and a filter on
 * "id", are replaced by the ids of the examples that pass them. */
int file_filters_report(struct report *report, struct file_filters *filters, const struct within *within,
                        struct portolan_error *error);

#endif
