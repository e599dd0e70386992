/*
 * user_file.c: opens a user's data file, and cuts it into parts that several threads read at once (user_file.h).
 *
 * In JSON and TSV a line end always ends a record. In CSV a line end may stand within quotes, which shows only when the
 * file is read from the beginning. So a CSV file with quotes is scanned once to find its cuts, as fast as a search for
 * bytes.
 */
#include "user_file.h"

#include "glue.h"

#include "base/suggest.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define GZIP_MAGIC "\x1f\x8b"
/* how many bytes are looked at: files that are no text, as NumPy's or Parquet's, have a zero among them */
#define LOOKED_AT 32
#define COLUMNS_MAX 4096
#define PART_SIZE ((size_t)2 << 20)

void
user_file_close(struct user_file *file)
{
	content_close(&file->content);
	*file = (struct user_file){0};
}

void
user_file_set_format(struct user_file *file, enum table_format format)
{
	file->format = format;
	file->begin = file->mark;
	if (format == TABLE_JSONL)
		return;
	file->header = records_next(format, file->text + file->mark, file->size - file->mark);
	file->begin += file->header.next;
}

int
user_file_open(struct user_file *file, const char *option, const char *path, struct portolan_error *error)
{
	int code;

	*file = (struct user_file){.path = path};
	code = content_open(&file->content, path, error);
	if (code < 0)
		return code;
	file->text = file->content.bytes;
	file->size = file->content.size;
	if (file->size >= 2 && memcmp(file->text, GZIP_MAGIC, 2) == 0) {
		user_file_close(file);
		return error_set(error, PORTOLAN_E_INVALID, "%s is compressed: zcat %s | portolan … %s -", path, path,
		                 option);
	}
	if (memchr(file->text, '\0', file->size < LOOKED_AT ? file->size : LOOKED_AT)) {
		user_file_close(file);
		return error_set(error, PORTOLAN_E_INVALID, "%s is no text in UTF-8: save it as JSON lines, CSV or TSV",
		                 path);
	}
	if (file->size >= 3 && memcmp(file->text, BYTE_ORDER_MARK, 3) == 0)
		file->mark = 3;
	user_file_set_format(file, records_format_of(path, file->text, file->size));
	return 0;
}

void
user_file_read_as_glue(struct user_file *file, const char *id_field)
{
	file->glue_id = id_field;
}

/* The names of a header, for the error about a column that it does not have. */
struct columns {
	char nearest[64]; /* the name nearest to the missing one; empty: none is near */
	char all[160];    /* all names, as in "id, text, label", or as many as fit */
};

static void
note_column(struct columns *columns, const char *wanted, const char *name, size_t *least)
{
	size_t distance = suggest_distance(wanted, name), used = strlen(columns->all);

	if (distance < *least && distance <= strlen(name) / 2) {
		*least = distance;
		snprintf(columns->nearest, sizeof(columns->nearest), "%s", name);
	}
	if (used + strlen(name) + 8 < sizeof(columns->all))
		snprintf(columns->all + used, sizeof(columns->all) - used, "%s%s", used ? ", " : "", name);
	else if (used + 6 < sizeof(columns->all) && strcmp(columns->all + used - 3, "...") != 0)
		snprintf(columns->all + used, sizeof(columns->all) - used, ", ...");
}

/* Finds the column of the header with this name. −1: there is none; −2: there are several. `text` has room for any
 * field. */
static long
find_column(const struct user_file *file, const char *name, struct columns *columns, char *text)
{
	const char *at = file->header.at, *end = at + file->header.length;
	size_t least = SIZE_MAX;
	long found = -1;

	*columns = (struct columns){0};
	for (long c = 0; c < COLUMNS_MAX && at; c++) {
		struct field field;

		if (!records_take_field(file->format, &at, end, text, &field))
			break;
		field = records_trim(field);
		memmove(text, field.at, field.length);
		text[field.length] = '\0';
		if (strcmp(text, name) == 0)
			found = found == -1 ? c : -2;
		else
			note_column(columns, name, text, &least);
	}
	return found;
}

int
user_file_column(const struct user_file *file, const char *option, const char *name, size_t *column,
                 struct portolan_error *error)
{
	struct columns columns;
	char *text = malloc(file->header.length + 1);
	long found;

	if (!text)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the header of %s", file->path);
	found = find_column(file, name, &columns, text);
	free(text);
	if (found >= 0) {
		*column = (size_t)found;
		return 0;
	}
	if (found == -2)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has several columns '%s': which one is meant? Rename the others", file->path,
		                 name);
	if (columns.nearest[0])
		return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; did you mean %s %s?", file->path,
		                 name, option, columns.nearest);
	if (file->size == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is empty", file->path);
	if (!columns.all[0])
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has no column '%s': its first line, the header, is empty", file->path, name);
	return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; it has: %s", file->path, name, columns.all);
}

uint64_t
user_file_line(const struct user_file *file, const char *at)
{
	uint64_t line = 1;

	for (const char *from = file->text; (from = memchr(from, '\n', (size_t)(at - from))); from++)
		line++;
	return line;
}

void
user_parts_free(struct user_parts *parts)
{
	free(parts->cuts);
	*parts = (struct user_parts){0};
}

/* Finds where the first record begins that does so at `target` or later. `at` is the beginning of an earlier record. */
static size_t
next_cut(const struct user_file *file, bool quotes, size_t at, size_t target)
{
	const char *newline;

	if (target >= file->size)
		return file->size;
	if (!quotes) {
		newline = memchr(file->text + target, '\n', file->size - target);
		return newline ? (size_t)(newline - file->text) + 1 : file->size;
	}
	while (at < target)
		at += records_next(file->format, file->text + at, file->size - at).next;
	return at;
}

int
user_file_cut(const struct user_file *file, struct user_parts *parts, struct portolan_error *error)
{
	size_t left = file->size - file->begin, most = left / PART_SIZE + 1, at = file->begin;
	bool quotes = file->format == TABLE_CSV && left > 0 && memchr(file->text + at, '"', left);

	*parts = (struct user_parts){.cuts = malloc((most + 1) * sizeof(*parts->cuts))};
	if (!parts->cuts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the parts of %s", file->path);
	parts->cuts[0] = at;
	while (at < file->size) {
		at = next_cut(file, quotes, at, at + PART_SIZE);
		parts->cuts[++parts->count] = at;
	}
	return 0;
}

struct user_part
user_file_part(const struct user_file *file, const struct user_parts *parts, size_t p)
{
	return (struct user_part){.file = file, .at = parts->cuts[p], .end = parts->cuts[p + 1]};
}

struct user_part
user_file_whole(const struct user_file *file)
{
	return (struct user_part){.file = file, .at = file->begin, .end = file->size};
}

static bool
is_blank(const struct record *record)
{
	size_t at = 0;

	while (at < record->length && (record->at[at] == ' ' || record->at[at] == '\t' || record->at[at] == '\r'))
		at++;
	return at == record->length;
}

int
user_part_next(struct user_part *part, struct portolan_error *error)
{
	const struct user_file *file = part->file;

	while (part->at < part->end) {
		part->record = records_next(file->format, file->text + part->at, part->end - part->at);
		part->at += part->record.next;
		part->number = part->next_number++;
		if (part->record.unclosed)
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s: line %llu has a quote that is never closed, and swallows the rest of the file",
			        file->path, (unsigned long long)user_file_line(file, part->record.at));
		if (file->glue_id && file->format != TABLE_JSONL && glue_is_unlabelled(file->format, &part->record)) {
			part->unlabelled++;
			continue;
		}
		if (file->format != TABLE_JSONL || !is_blank(&part->record))
			return 1;
	}
	return 0;
}
