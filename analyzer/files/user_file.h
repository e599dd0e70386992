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
	const char *glue_id; /* the field whose ids become numbers: see glue.h; NULL: the file is read as it stands */
	struct content content;
};

/* The format follows from the file's name or first line. Fails if the file cannot be read, is compressed, or is no
 * text; the message names `option`. */
int user_file_open(struct user_file *file, const char *option, const char *path, struct portolan_error *error);
void user_file_close(struct user_file *file); /* may be called twice */

/* Sets the format, for a file whose name does not tell it. */
void user_file_set_format(struct user_file *file, enum records_format format);

/* Makes ids of a file of SNLI, MNLI or QNLI as glue.h says; call it before any record is read. */
void user_file_read_as_glue(struct user_file *file, const char *id_field);

/* The number of the header's column `name`, without blanks around it, for CSV and TSV. If there is none, an error names
 * the nearest column or all of them. `option` gave the name. */
int user_file_column(const struct user_file *file, const char *option, const char *name, size_t *column,
                     struct portolan_error *error);

/* The line of a byte of the file, from 1. Reads all of the file before it. */
uint64_t user_file_line(const struct user_file *file, const char *at);

/*
 * The records of the file, or of a part of it: several threads can read parts at once. Bytes cuts[p] … cuts[p+1] are
 * whole records; the cuts depend only on the file.
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
	uint64_t number;     /* of the record in the part, from 0; a header does not count, blank lines do */
	uint64_t unlabelled; /* records left out so far: see glue.h */
	/* private */
	const struct user_file *file;
	size_t at, end;
	uint64_t next_number;
};
struct user_part user_file_part(const struct user_file *file, const struct user_parts *parts, size_t p);
struct user_part user_file_whole(const struct user_file *file);

/* 1: a record; 0: no more; PORTOLAN_E_INVALID: a quote that is never closed. Blank lines between JSON lines are left
 * out, and as glue.h says records without a label. */
int user_part_next(struct user_part *part, struct portolan_error *error);

#endif
