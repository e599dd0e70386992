/*
 * attributes.h: reads columns of a user's file (JSONL, CSV, TSV), numbers or categories, for the examples of a run,
 * which the file names by id. For `portolan map`, `groups` and the live page, which colour and group examples by them.
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
	uint32_t *ranks;     /* of these names (names_rank()), in a column that texts.h has read; else NULL */
	uint64_t missing;    /* the number of positions without a value */
	uint64_t text_line;  /* ATTRIBUTE_CATEGORY: the first line whose value is no number, */
	char text[48];       /* and that value, cut to fit */
};

struct attributes {
	struct attribute *list; /* the columns, in the order asked for */
	size_t count;
	size_t rows;         /* the number of positions */
	const char **places; /* by position: the example's record in the open file; NULL: the example has none */
	uint64_t records;    /* the number of records in the file */
	uint64_t unknown;    /* the number of records that have no id, or an id that no example has */
	uint64_t unmatched;  /* the number of positions without a record */
	struct join_oddities oddities;
};

struct attributes_request {
	const struct user_file *file; /* open */
	const char *id_field;
	const char *const *names;   /* the columns */
	const char *const *options; /* the options that named them, for messages */
	size_t count;
};

/* Reads the columns for the n examples in `chosen`; example chosen[i] has position i. */
int attributes_read(struct attributes *attributes, const struct attributes_request *request, const struct ids *ids,
                    const uint32_t *chosen, size_t n, struct portolan_error *error);

/* Reads the columns for every record of the file, each of which must have an id; the i-th record has position i. *ids
 * gets the ids, as integers if all of them are whole numbers; the caller frees it with ids_free(). */
int attributes_read_all(struct attributes *attributes, const struct attributes_request *request, struct ids *ids,
                        struct portolan_error *error);

void attributes_free(struct attributes *attributes); /* may be called twice */

#endif
