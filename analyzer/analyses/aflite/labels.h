/*
 * labels.h: reads a category for each row of the features, for input.c: the labels that `aflite --labels` names, or the
 * groups that --groups names. They come from a NumPy array of one dimension (whole numbers, truth values or strings),
 * from text with one a line, or from a field of JSON lines, CSV or TSV.
 */
#ifndef AFLITE_LABELS_H
#define AFLITE_LABELS_H

#include "base/names.h"

#include <portolan/portolan.h>

struct labels {
	uint32_t *values; /* by row: below class_count */
	size_t count, class_count;
	const char **names; /* by class, ascending: as numbers if all of them are numbers, else bytewise */
	uint64_t *examples; /* by class: how many examples it has */
	uint64_t digest;    /* of values and names */
	size_t passed;      /* records without a row, which --glue passes over (files/glue.h) */
	/* private */
	size_t room;
	struct names found; /* the names in the order of their first row */
};

/* Reads the labels: of an array or text file (field NULL), or of a field of records. `option` and `field_option` are
 * the options that gave `path` and `field`, for messages. glue_id is the field of the ids if the file is read as
 * files/glue.h says (then only one record of an id has a label); else NULL. Ends the program where a row has no label,
 * or a number is not whole. */
void labels_read(struct labels *labels, const char *option, const char *path, const char *field_option,
                 const char *field, const char *glue_id);

/* Make labels without a file: one after the other, then finish. */
void labels_add(struct labels *labels, const char *text, size_t length);
void labels_finish(struct labels *labels);

/* Keeps the labels of rows[0 … count − 1] alone, in this order. A class without a row left is dropped. */
void labels_keep(struct labels *labels, const uint32_t *rows, size_t count);

void labels_free(struct labels *labels); /* may be called twice */

/* The first number that the classes skip, if they are whole numbers that begin with 0 or 1: the classes 0 and 2 skip 1.
 * −1: none. */
int64_t labels_gap(const struct labels *labels);

#endif
