/*
 * labels.h: a category for each row of the features: labels, or groups. From a NumPy array of one dimension (whole
 * numbers, truth values or strings), from text with one a line, or from a field of JSON lines, CSV or TSV.
 */
#ifndef AFLITE_LABELS_H
#define AFLITE_LABELS_H

#include "base/names.h"

#include <portolan/portolan.h>

struct labels {
	uint32_t *values; /* by row: below class_count */
	size_t count, class_count;
	const char **names; /* ascending: as numbers where all of them are, else bytewise */
	uint64_t *examples; /* by class */
	uint64_t digest;    /* of values and names */
	size_t passed;      /* records that were passed over: see glue_id */
	/* private */
	size_t room;
	struct names found; /* by first appearance */
};

/* field NULL: `path` is an array or text. `option` and `field_option` name what gave them, for messages. glue_id: the
 * field of the ids of a file that is read as files/glue.h says, else NULL: then one record an id has a label.
 * PORTOLAN_E_INVALID: a row without a label; numbers that are not whole. */
int labels_read(struct labels *labels, const char *option, const char *path, const char *field_option,
                const char *field, const char *glue_id, struct portolan_error *error);

/* The same, label by label. */
int labels_add(struct labels *labels, const char *text, size_t length, struct portolan_error *error);
int labels_finish(struct labels *labels, struct portolan_error *error);

/* Those of `count` rows are left, in this order; a class without any is gone. */
int labels_keep(struct labels *labels, const uint32_t *rows, size_t count, struct portolan_error *error);

void labels_free(struct labels *labels); /* may be called twice */

/* The number of the first class that a sequence of whole numbers skips, or −1: 0, 2 lack 1. */
int64_t labels_gap(const struct labels *labels);

#endif
