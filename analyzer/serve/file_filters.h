/*
 * file_filters.h: applies the filters of a selection that need the user's own file, for the live page: filters on its
 * columns and on its texts. regions/within.h applies the others, and calls this one.
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

/* Writes the member "filters" of the selection, in the form that `select --within` reads. If filters need the file,
 * then these, and a filter on "id", are replaced by the ids of the examples that pass them. Writes nothing if the
 * selection has no filters. */
int file_filters_report(struct report *report, struct file_filters *filters, const struct within *within,
                        struct portolan_error *error);

#endif
