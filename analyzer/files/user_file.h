/* user_file.h: opens a user's data file (CSV, TSV or JSON lines), finds its format and its header, and hands out its
 * records. For all code that reads users' data; most of it takes the records through fields.h. */
#ifndef USER_FILE_H
#define USER_FILE_H

#include "content.h"
#include "records.h"

#include <portolan/portolan.h>

#include <stdint.h>

struct user_file {
	const char *path; /* as the user gave it; "-": standard input. It stays the caller's */
	enum table_format format;
	struct record header; /* CSV and TSV */
	size_t mark;          /* bytes of a byte order mark, which stands at the beginning of `text` */
	size_t begin;         /* where the records begin */
	const char *text;
	size_t size;
	const char *glue_id; /* the field whose ids become numbers (glue.h); NULL: the file is read as it stands */
	struct content content;
};

/* Opens the file, and finds its format by its name or its first line. A file that cannot be read, is compressed, or
 * is no text is refused; the message names `option`. */
int user_file_open(struct user_file *file, const char *option, const char *path, struct portolan_error *error);
void user_file_close(struct user_file *file); /* may be called twice */

/* Sets the format of a file whose name does not tell it. */
void user_file_set_format(struct user_file *file, enum table_format format);

/* Makes the file, of SNLI, MNLI or QNLI, be read by the rules of glue.h: its ids become numbers. To be called before
 * any record is read. */
void user_file_read_as_glue(struct user_file *file, const char *id_field);

/* Finds the column of CSV or TSV whose name in the header, without blanks around it, is `name`. If there is none, the
 * error names the nearest column, or all of them. `option` is the option that gave the name. */
int user_file_column(const struct user_file *file, const char *option, const char *name, size_t *column,
                     struct portolan_error *error);

/* The number of the line, from 1, that has a byte of the file. Counting reads the file up to there. */
uint64_t user_file_line(const struct user_file *file, const char *at);

/*
 * The records of the file, or of a part of it: several threads can read parts at once. Part p is the bytes from cuts[p]
 * to cuts[p+1], which are whole records. The cuts depend on the file alone.
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
	uint64_t number;     /* the record's number in the part, from 0; a header does not count, blank lines do */
	uint64_t unlabelled; /* the number of records without a label that were left out so far (glue.h) */
	/* private */
	const struct user_file *file;
	size_t at, end;
	uint64_t next_number;
};
struct user_part user_file_part(const struct user_file *file, const struct user_parts *parts, size_t p);
struct user_part user_file_whole(const struct user_file *file);

/* Finds the next record. 1: there is one; 0: there are no more; PORTOLAN_E_INVALID: a quote is never closed. Blank
 * lines between JSON lines are left out, and so are records without a label if the file is read as glue.h says. */
int user_part_next(struct user_part *part, struct portolan_error *error);

#endif
