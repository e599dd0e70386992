/*
 * fields.h: reads named fields of each record of a user's file, in any format; all readers use it. A field is copied
 * only if its text has quotes or escapes.
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

#include "user_file.h"

#define FIELDS_MAX 72 /* of a record, read at once */

struct fields {
	const struct user_file *file;
	size_t count;
	struct field_name {
		const char *text;
		size_t length;
		size_t column; /* CSV and TSV */
		bool is_glue_id;
	} names[FIELDS_MAX];
	size_t last;  /* CSV and TSV: the greatest column that is read */
	size_t width; /* CSV and TSV: how many fields the header has */
};

/* The names stay the caller's, and may repeat. In CSV and TSV, a name without a column is an error, which names
 * options[i]. */
int fields_init(struct fields *fields, const struct user_file *file, const char *const *names,
                const char *const *options, size_t count, struct portolan_error *error);

struct fields_reader { /* begins as {0}; one for each thread */
	const struct fields *fields;
	struct user_part part; /* part.record is the record */
	struct field found[FIELDS_MAX];
	/* private */
	char *room;
	size_t room_size;
};

/* May be called again, for another part. */
void fields_begin(struct fields_reader *reader, const struct fields *fields, struct user_part part);
/* 1: a record; 0: no more; negative: a record that is not well-formed, or out of memory. Errors name file and line. */
int fields_next(struct fields_reader *reader, struct portolan_error *error);
void fields_end(struct fields_reader *reader); /* may be called twice */

/* The line on which the record begins, from 1. Reads all of the file before it. */
uint64_t fields_line(const struct fields_reader *reader);

/* The error "FILE: line N…", followed by the text of `format`; PORTOLAN_E_INVALID. */
__attribute__((format(printf, 3, 4))) int fields_wrong(const struct fields_reader *reader, struct portolan_error *error,
                                                       const char *format, ...);
/* The length for printing a field, cut, with "%.*s": fields_shown(field), field->at. */
int fields_shown(const struct field *field);

/* CSV and TSV: the record has more fields than the header, or fewer; empty lines are let pass. */
bool fields_is_ragged(const struct fields_reader *reader);

/* Has the header a column, or the first JSON line a member, of this name? */
bool fields_has(const struct user_file *file, const char *name);

#endif
