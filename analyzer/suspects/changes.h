/*
 * changes.h: reads a file that lists changed labels, a record for each: the example's id, its old and its new label. For
 * flips.c, whose files are written for a training, and corrections.c, whose files a person edits.
 *
 *     struct changes changes = {.dynamics = &dynamics};
 *     changes_open(&changes, "--flips", path, &error);
 *     changes_begin(&changes, CHANGES_OLD, &error);
 *     while ((code = changes_next(&changes, &row, &error)) > 0)
 *             … changes.reader.found[CHANGES_OLD] …
 *     changes_close(&changes);
 */
#ifndef CHANGES_H
#define CHANGES_H

#include "files/fields.h"
#include "labels.h"
#include "measures/dynamics.h"

enum { CHANGES_ID, CHANGES_OLD, CHANGES_NEW, CHANGES_FIELDS };
extern const char *const changes_names[CHANGES_FIELDS]; /* "id", "old", "new" */

#define CHANGES_NONE UINT32_MAX

struct changes { /* begins as {.dynamics = …} */
	const struct dynamics *dynamics;
	struct user_file file;
	struct fields_reader reader;
	uint64_t unknown; /* records whose id no observed example has */
	char first_unknown[64];
	/* private */
	struct fields fields;
	struct ids_index index;
	enum label_form form;
	bool is_open;        /* the file's labels fit both forms */
	const char **places; /* by place in the order: the example's record; NULL: it has none so far */
};

/* Opens the file that `option` gave. The caller may then set its format. */
int changes_open(struct changes *changes, const char *option, const char *path, struct portolan_error *error);
/* Finds the columns, and how the file writes labels: as names if all of the field `recorded` are the run's own labels so,
 * else as numbers if they are so; if neither, as what fits for longer, so that the first wrong line is the one shown. */
int changes_begin(struct changes *changes, size_t recorded, struct portolan_error *error);
/* Reads the next record that is not empty. 1: it is of the example *row (CHANGES_NONE: no observed example has its id);
 * 0: there are no more; PORTOLAN_E_INVALID: it is not well-formed, or its example has a record already. */
int changes_next(struct changes *changes, uint32_t *row, struct portolan_error *error);
/* The label in a field of the record: a class, LABEL_NONE or LABEL_TWICE; PORTOLAN_E_INVALID, and an error: it would be one
 * class as a name and another as a number, and the file does not show which is meant. */
int changes_label(const struct changes *changes, size_t number, int32_t *label, struct portolan_error *error);
/* The error for a field whose label is LABEL_NONE or LABEL_TWICE; `advice` ends it. */
int changes_no_label(const struct changes *changes, size_t number, int32_t label, const char *advice,
                     struct portolan_error *error);
void changes_close(struct changes *changes); /* may be called twice */

#endif
