/*
 * fields.h: several fields of each record of a user's file, in one pass over it, and copied only where they are not
 * written as they are meant.
 *
 *     fields_init() → for each record: fields_take() → fields_room_free()
 */
#ifndef FIELDS_H
#define FIELDS_H

#include "user_file.h"

#define FIELDS_MAX 18

struct field {
	const char *at; /* in the file or the room; NULL: the record has none, or null */
	size_t length;
	enum records_json_kind kind; /* of CSV and TSV: STRING */
};

struct fields {
	const struct user_file *file;
	size_t count;
	struct records_name names[FIELDS_MAX];
	size_t columns[FIELDS_MAX]; /* CSV and TSV */
	size_t last;                /* the greatest of them */
};

struct fields_room { /* begins as {0}; one for each thread */
	char *text;
	size_t size;
};

/* The names stay the caller's. Of CSV and TSV a name that no column has is an error, in which options[i] gave it. */
int fields_init(struct fields *fields, const struct user_file *file, const char *const *names,
                const char *const *options, size_t count, struct portolan_error *error);

/* Fills out[0 … count−1], until the room is used again. The same name may stand there twice. Errors name file and
 * line. */
int fields_take(const struct fields *fields, const struct record *record, struct fields_room *room, struct field *out,
                struct portolan_error *error);
void fields_room_free(struct fields_room *room);

/* The error for a field that a record should have: "FILE: line 3 has no field 'NAME'". */
int fields_missing(const struct fields *fields, const struct record *record, size_t field,
                   struct portolan_error *error);

#endif
