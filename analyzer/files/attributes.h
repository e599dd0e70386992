/*
 * attributes.h: columns of a user's file (JSONL, CSV, TSV) beside a run's examples: numbers or categories, by id.
 *
 * A column whose every value is a number, with or without blanks around it, is one of numbers; JSON's true and false
 * are 1 and 0. Otherwise its values are categories, by their text. Empty and blank fields, null and fields that a
 * record lacks are missing. An example that stands in the file twice, a line that is not well-formed, and a value that
 * is an object or an array are errors, which name the file, the line and the field.
 */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H

#include "base/names.h"
#include "join.h"

enum attribute_kind { ATTRIBUTE_NUMBER, ATTRIBUTE_CATEGORY };

struct attribute {
	char *name;
	enum attribute_kind kind;
	double *numbers;     /* ATTRIBUTE_NUMBER, by position; NaN: missing */
	int32_t *categories; /* ATTRIBUTE_CATEGORY, by position; −1: missing */
	struct names names;  /* of the categories, by first appearance in the file */
	uint64_t missing;    /* positions without a value */
	uint64_t text_line;  /* of a category: the first line whose value is no number, */
	char text[48];       /* and that value, cut */
};

struct attributes {
	struct attribute *list; /* in the order asked for */
	size_t count;
	size_t rows;         /* positions */
	const char **places; /* by position: where in the open file the example's record begins; NULL: none */
	uint64_t records;    /* in the file */
	uint64_t unknown;    /* of these, records without an id, or with one that no example has */
	uint64_t unmatched;  /* positions that no record belongs to */
	struct join_oddities oddities;
};

struct attributes_request {
	const struct user_file *file; /* open */
	const char *id_field;
	const char *const *names;   /* the columns */
	const char *const *options; /* the options that named them, for messages */
	size_t count;
};

/* Reads the columns for the n `chosen` examples; position i is that of chosen[i]. */
int attributes_read(struct attributes *attributes, const struct attributes_request *request, const struct ids *ids,
                    const uint32_t *chosen, size_t n, struct portolan_error *error);

/* Reads them for every record of the file: position i is the i-th record's, and its id goes to *ids (integers, if all
 * are whole numbers), the caller's to ids_free(). Every record must have an id. */
int attributes_read_all(struct attributes *attributes, const struct attributes_request *request, struct ids *ids,
                        struct portolan_error *error);

void attributes_free(struct attributes *attributes); /* may be called twice */

#endif
