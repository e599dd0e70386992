/*
 * fields.h: reads named fields ("id", "text") of each record of a user's file, whichever format the file has, for the
 * commands that read users' data. A field is copied only if its text has quotes or escapes.
 *
 *     struct fields_reader reader = {0};
 *     fields_init(&fields, &file, names, options, count, error);
 *     fields_begin(&reader, &fields, user_file_whole(&file));
 *     while ((code = fields_next(&reader, error)) > 0)
 *             … reader.found[0 … count−1], until the next record …
 *     fields_end(&reader);
 */
#ifndef FIELDS_H
#define FIELDS_H

#include "base/names.h"
#include "user_file.h"

#define FIELDS_MAX 72  /* the most fields that are read of a record */
#define FIELDS_KEYS 16 /* the members of a JSON line whose keys are remembered */

struct fields {
	const struct user_file *file;
	size_t count;
	struct field_name {
		const char *text;
		size_t length;
		size_t column; /* CSV and TSV */
		bool is_glue_id;
	} names[FIELDS_MAX];
	size_t last;  /* CSV and TSV: the last column that is read, by its number */
	size_t width; /* CSV and TSV: the number of fields in the header */
};

/* Finds the columns of the named fields. The names stay the caller's, and may repeat. In CSV and TSV, a name without a
 * column is an error, which names options[i]. */
int fields_init(struct fields *fields, const struct user_file *file, const char *const *names,
                const char *const *options, size_t count, struct portolan_error *error);

struct fields_reader { /* begins as {0}; one for each thread */
	const struct fields *fields;
	struct user_part part; /* part.record is the record */
	struct field found[FIELDS_MAX];
	/* private */
	char *room;
	size_t room_size;
	/* The first members of the JSON line read before, whose keys were taken from it: most lines have the same. */
	struct fields_key {
		const char *before; /* what stands before the value: the comma, the key, the colon */
		size_t size;        /* bytes of that; 0: not to be compared (none yet, or it has escapes) */
		const char *at;     /* the key */
		size_t length;
		size_t first, end; /* all names that equal the key are among names[first … end−1] */
	} keys[FIELDS_KEYS];
};

/* Begins to read a part of the file. May be called again, for another part; after fields_init() with other names only
 * with a reader that begins as {0}, as its keys are of the names before. */
void fields_begin(struct fields_reader *reader, const struct fields *fields, struct user_part part);
/* Reads the next record. 1: it is read; 0: the part has no more; negative: the record is not well-formed, or memory is
 * out. Errors name file and line. */
int fields_next(struct fields_reader *reader, struct portolan_error *error);
void fields_end(struct fields_reader *reader); /* may be called twice */

/* The number of the line, from 1, on which the record begins. Counting reads all of the file before that line. */
uint64_t fields_line(const struct fields_reader *reader);

/* The error "FILE: line N…", followed by the text of `format`; PORTOLAN_E_INVALID. */
__attribute__((format(printf, 3, 4))) int fields_wrong(const struct fields_reader *reader, struct portolan_error *error,
                                                       const char *format, ...);
/* How many bytes of a field a message shows: "%.*s", fields_shown(field), field->at. */
int fields_shown(const struct field *field);

/* Has a record of CSV or TSV more fields than the header, or fewer? An empty line counts as neither. */
bool fields_is_ragged(const struct fields_reader *reader);

/* Adds the names of the file's columns to `names`: those of the header, or the members of the first JSON line; not
 * empty ones. `only_values`: without members whose value is an object, an array or NaN. PORTOLAN_E_MEMORY. */
int fields_list(const struct user_file *file, bool only_values, struct names *names, struct portolan_error *error);

/* Has the header a column with this name, or the first JSON line a member? */
bool fields_has(const struct user_file *file, const char *name);

#endif
