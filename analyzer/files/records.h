/*
 * records.h: cuts the text of a user's file (CSV, TSV or JSON lines) into records, and takes fields out of a record.
 * For user_file.c and fields.c, and other code that reads users' data. Pure: the functions read memory, and change
 * nothing.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "output/table_format.h"

#include <stdbool.h>
#include <stddef.h>

/* The format of a file, TABLE_CSV, TABLE_TSV or TABLE_JSONL: as its name says (.jsonl, .ndjson, .json, .csv, .tsv), or
 * else as its first line looks. */
enum table_format records_format_of(const char *path, const char *text, size_t size);

struct record {
	const char *at;
	size_t length; /* without the line end */
	size_t next;   /* bytes from the beginning of this record to the next */
	bool unclosed; /* CSV: the text ends within a quoted field */
};

/* The record that begins at `text`; size > 0. In CSV a field that begins with a quote may hold line ends. */
struct record records_next(enum table_format format, const char *text, size_t size);

/* What a field holds, without quotes and escapes. JSON's true and false are the numbers 1 and 0, as in NumPy. */
enum field_kind {
	FIELD_ABSENT,
	FIELD_NULL,
	FIELD_TEXT, /* every field of CSV and TSV */
	FIELD_NUMBER,
	FIELD_TRUTH,
	FIELD_OTHER, /* an object, an array; NaN and the like, which are no JSON */
};
struct field {
	const char *at; /* in the file's text, or in the room that the caller gave; NULL: absent, or null */
	size_t length;
	enum field_kind kind;
};

/*
 * Takes the field of CSV or TSV that begins at *at, and moves *at to the next one; after the last, *at becomes NULL.
 * `text` has room for the field: a field with quotes inside is copied there. `text` NULL: the field is passed over.
 * False: a quote is not closed before `end`.
 */
bool records_take_field(enum table_format format, const char **at, const char *end, char *text, struct field *field);

/* Where the last field of a CSV or TSV record begins. */
const char *records_last_field(enum table_format format, const struct record *record);
/* The length of the record's first `count` fields, or of all, without the separator after them. */
size_t records_first_fields(enum table_format format, const struct record *record, size_t count);

/* The field without the blanks around it. */
struct field records_trim(struct field field);

/* The number of fields in a record of CSV or TSV, at least 1. */
size_t records_count_fields(enum table_format format, const struct record *record);

#endif
