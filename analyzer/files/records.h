/*
 * records.h: the lines of a user's file: splitting CSV, TSV and JSON lines into records, and taking one field out.
 * Pure: works on memory, changes nothing.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>

enum records_format { RECORDS_JSONL, RECORDS_CSV, RECORDS_TSV };

/* By the file's name (.jsonl, .ndjson, .json, .csv, .tsv), else by its first line. */
enum records_format records_format_of(const char *path, const char *text, size_t size);

struct record {
	const char *at;
	size_t length; /* without the line end */
	size_t next;   /* bytes to the next record */
	bool unclosed; /* CSV: the text ends within a quoted field */
};

/* The record that begins at `text`; size > 0. In CSV a field that begins with a quote may hold line ends. */
struct record records_next(enum records_format format, const char *text, size_t size);

/* A field without quotes and escapes. JSON's true and false are the numbers 1 and 0, as in NumPy. */
enum field_kind {
	FIELD_ABSENT,
	FIELD_NULL,
	FIELD_TEXT, /* every field of CSV and TSV */
	FIELD_NUMBER,
	FIELD_TRUTH,
	FIELD_OTHER, /* an object, an array; NaN and the like, which are no JSON */
};
struct field {
	const char *at; /* in the file or in the room given; NULL: absent, or null */
	size_t length;
	enum field_kind kind;
};

/*
 * Takes the field of CSV or TSV that begins at *at, and moves *at to the next, or to NULL after the last. `text` has
 * room for the field, which is copied there where its quotes are not those around it alone; NULL: the field is passed
 * over. False: its quote is not closed before `end`.
 */
bool records_take_field(enum records_format format, const char **at, const char *end, char *text, struct field *field);

/* The beginning of the last field of a CSV or TSV record; and the length of its first `count` fields, or of all,
 * without the separator after them. */
const char *records_last_field(enum records_format format, const struct record *record);
size_t records_first_fields(enum records_format format, const struct record *record, size_t count);

/* Without the blanks around it. */
struct field records_trim(struct field field);

/* How many fields a record of CSV or TSV has; at least 1. */
size_t records_count_fields(enum records_format format, const struct record *record);

#endif
