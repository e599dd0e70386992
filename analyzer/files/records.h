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

/*
 * Takes a field's text: of CSV and TSV by its number from 0, unquoted; of JSON by its name: the text of a string, or
 * a number as it is written. `text` has room for record->length + 1 bytes. Returns its length, -1 when the record has
 * no such field (JSON: or it is neither string nor number), -2 when it is not well-formed: of JSON the whole record is
 * looked at, and its last closing brace is then the one that ends the object.
 */
long records_field(enum records_format format, const struct record *record, size_t number, char *text);
long records_json_field(const struct record *record, const char *name, char *text);

/* The same, and what it is; NONE: null, or no such field. */
enum records_json_kind {
	RECORDS_JSON_NONE,
	RECORDS_JSON_STRING,
	RECORDS_JSON_NUMBER,
	RECORDS_JSON_TRUE,
	RECORDS_JSON_FALSE,
	RECORDS_JSON_OTHER, /* an object, an array; NaN and the like, which are no JSON */
};
long records_json_value(const struct record *record, const char *name, enum records_json_kind *kind, char *text);

/* Several members in one pass over the record, as they stand in it: their values begin at `at`, strings with their
 * quotes. `text` has room as above, for keys with escapes. Answers 0, or -2: not well-formed. */
struct records_name {
	const char *text;
	size_t length;
};
struct records_member {
	const char *at; /* NULL: the record has none */
	size_t size;
	enum records_json_kind kind; /* NONE: null as well */
};
int records_json_members(const struct record *record, const struct records_name *names, size_t count, char *text,
                         struct records_member *found);

/* What a JSON string stands for, which lies there with its quotes, in `size` bytes; as many will do for `text`. Returns
 * its length, -2: it is none. */
long records_json_decode(const char *from, size_t size, char *text);

/* How many fields a record of CSV or TSV has; at least 1. */
size_t records_count_fields(enum records_format format, const struct record *record);

/* The first of `count` names that a well-formed JSON record has as a member, whatever its value; -1: none. Room as
 * above. */
long records_json_first_of(const struct record *record, const char *const *names, size_t count, char *text);

#endif
