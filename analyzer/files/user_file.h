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

/* The format is that of the file's name or first line. Fails for a file that cannot be read, or is compressed; `option`
 * names it in that message. */
int user_file_open(struct user_file *file, const char *option, const char *path, struct portolan_error *error);
void user_file_close(struct user_file *file); /* may be called twice */

/* For a file that is in this format, whatever its name. */
void user_file_set_format(struct user_file *file, enum records_format format);

/* For a file of SNLI, MNLI or QNLI, before any record is read: as glue.h says. */
void user_file_read_as_glue(struct user_file *file, const char *id_field);

/* The number of the header's column `name`, blanks around it left out, for CSV and TSV; without one an error that says
 * what is near or there. `option` gave the name. */
int user_file_column(const struct user_file *file, const char *option, const char *name, size_t *column,
                     struct portolan_error *error);

/* The line on which a byte of the file stands, from 1; takes a look at all before it. */
uint64_t user_file_line(const struct user_file *file, const char *at);

/*
 * The records of the file, or of a part of it: cut into parts, several threads can go through it at once. Bytes
 * cuts[p] … cuts[p+1] are whole records; how they are cut depends on the file alone.
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
	uint64_t number; /* of the record in the part, from 0; a header does not count, blank lines do */
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
