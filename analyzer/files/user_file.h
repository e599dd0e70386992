/* user_file.h: a user's file of records in memory: its text, its format and its header. */
#ifndef USER_FILE_H
#define USER_FILE_H

#include "content.h"
#include "records.h"

#include <portolan/portolan.h>

#include <stdint.h>

struct user_file {
	const char *path; /* as the user gave it; "-": standard input. The caller's */
	enum records_format format;
	struct record header; /* CSV and TSV */
	size_t mark;          /* bytes of a byte order mark, which stands at the beginning of `text` */
	size_t begin;         /* where the records begin */
	const char *text;
	size_t size;
	struct content content;
};

/* Fails for a file that cannot be read, or is compressed; `option` names it in that message. */
int user_file_open(struct user_file *file, const char *option, const char *path, struct portolan_error *error);
void user_file_close(struct user_file *file); /* may be called twice */

/* The number of the header's column `name`, for CSV and TSV; without one an error that says what is near or there.
 * `option` gave the name. */
int user_file_column(const struct user_file *file, const char *option, const char *name, size_t *column,
                     struct portolan_error *error);

/* Whether the header has a column, or the first JSON line a member, of this name. */
bool user_file_has(const struct user_file *file, const char *name);

/*
 * Goes through the records, blank lines between JSON lines left out:
 *
 *     struct user_record record = {0};
 *     while ((code = user_file_next(&file, &record, &error)) > 0)
 *             … record.record, record.text has room for any of its fields …
 *     user_record_end(&record);
 *
 * 1: a record; 0: no more; negative: a quote that is never closed, or out of memory.
 */
struct user_record {
	struct record record;
	uint64_t number; /* from 0; a header does not count */
	uint64_t line;   /* from 1; of the file, where the record begins */
	char *text;
	/* private */
	size_t at, room;
	uint64_t next_number, next_line;
};
int user_file_next(const struct user_file *file, struct user_record *record, struct portolan_error *error);
void user_record_end(struct user_record *record);

/* Blank lines between JSON lines are no records. */
bool user_file_is_blank(enum records_format format, const struct record *record);
int user_file_unclosed(const struct user_file *file, uint64_t line, struct portolan_error *error); /* that error */

/* The line on which a byte of the file stands, from 1; takes a look at all before it. */
uint64_t user_file_line(const struct user_file *file, const char *at);

/*
 * The records of a part of the file, for who goes through several at once: bytes cuts[p] … cuts[p+1] are whole records.
 * How it is cut depends on the file alone.
 *
 *     struct user_part part = user_file_part(&file, &parts, p);
 *     while ((code = user_part_next(&part, &error)) > 0)
 *             … part.record …
 */
struct user_parts {
	size_t *cuts; /* count + 1 */
	size_t count;
};
int user_file_cut(const struct user_file *file, struct user_parts *parts, struct portolan_error *error);
void user_parts_free(struct user_parts *parts);

struct user_part {
	struct record record;
	const struct user_file *file;
	size_t at, end;
};
struct user_part user_file_part(const struct user_file *file, const struct user_parts *parts, size_t p);
int user_part_next(struct user_part *part, struct portolan_error *error); /* as user_file_next() */

/* The error for a record that is not well-formed; PORTOLAN_E_INVALID. */
int user_file_malformed(const struct user_file *file, const struct user_record *record, struct portolan_error *error);

#endif
