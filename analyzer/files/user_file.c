/* user_file.c: see user_file.h. */
#include "user_file.h"

#include "program/suggest.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define GZIP_MAGIC "\x1f\x8b"
#define COLUMNS_MAX 4096

void
user_file_close(struct user_file *file)
{
	content_close(&file->content);
	*file = (struct user_file){0};
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
	file->format = records_format_of(path, file->text, file->size);
	if (file->size >= 3 && memcmp(file->text, BYTE_ORDER_MARK, 3) == 0)
		file->mark = 3;
	file->begin = file->mark;
	if (file->format != RECORDS_JSONL) {
		file->header = records_next(file->format, file->text + file->begin, file->size - file->begin);
		file->begin += file->header.next;
	}
	return 0;
}

/* What a header has, for who asked for a column that it has not. */
struct columns {
	char nearest[64]; /* empty: none is near */
	char all[160];    /* "id, text, label"; as many as fit */
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

/* The number of the header's column `name`; -1: none. */
static long
find_column(const struct user_file *file, const char *name, struct columns *columns, char *text)
{
	size_t least = SIZE_MAX;

	*columns = (struct columns){0};
	for (size_t c = 0; c < COLUMNS_MAX; c++) {
		long length = records_field(file->format, &file->header, c, text);

		if (length < 0)
			break;
		text[length] = '\0';
		if (strcmp(text, name) == 0)
			return (long)c;
		note_column(columns, name, text, &least);
	}
	return -1;
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
	if (columns.nearest[0])
		return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; did you mean %s %s?", file->path,
		                 name, option, columns.nearest);
	if (!columns.all[0])
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has no column '%s': its first line, the header, is empty", file->path, name);
	return error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'; it has: %s", file->path, name, columns.all);
}

/* Room for any field of a record. */
static int
make_room(struct user_record *record)
{
	if (record->record.length < record->room)
		return 0;
	free(record->text);
	record->room = 2 * record->record.length + 1;
	record->text = malloc(record->room);
	return record->text ? 0 : -1;
}

bool
user_file_is_blank(enum records_format format, const struct record *record)
{
	size_t at = 0;

	while (format == RECORDS_JSONL && at < record->length && strchr(" \t\r", record->at[at]) && record->at[at])
		at++;
	return at == record->length;
}

int
user_file_unclosed(const struct user_file *file, uint64_t line, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s: line %llu has a quote that is never closed, and swallows the rest of the file",
	                 file->path, (unsigned long long)line);
}

static uint64_t
count_lines(const char *text, size_t size)
{
	uint64_t lines = 0;

	for (const char *end = text + size; text && (text = memchr(text, '\n', (size_t)(end - text))); text++)
		lines++;
	return lines;
}

uint64_t
user_file_line(const struct user_file *file, const char *at)
{
	return 1 + count_lines(file->text, (size_t)(at - file->text));
}

int
user_file_next(const struct user_file *file, struct user_record *record, struct portolan_error *error)
{
	if (record->next_line == 0) {
		record->at = file->begin;
		record->next_line = 1 + (file->begin > 0 ? count_lines(file->text, file->begin) : 0);
	}
	while (record->at < file->size) {
		record->record = records_next(file->format, file->text + record->at, file->size - record->at);
		record->number = record->next_number++;
		record->line = record->next_line;
		record->next_line +=
		        file->format == RECORDS_CSV ? count_lines(record->record.at, record->record.next) : 1;
		record->at += record->record.next;
		if (user_file_is_blank(file->format, &record->record))
			continue;
		if (record->record.unclosed)
			return user_file_unclosed(file, record->line, error);
		if (make_room(record) < 0)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a line of %s", file->path);
		return 1;
	}
	return 0;
}

void
user_record_end(struct user_record *record)
{
	free(record->text);
	*record = (struct user_record){0};
}

int
user_file_malformed(const struct user_file *file, const struct user_record *record, struct portolan_error *error)
{
	if (file->format == RECORDS_JSONL && record->number == 0 && record->record.at[0] == '[')
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s is a JSON array; it must have one object a line: jq -c '.[]' %s", file->path,
		                 file->path);
	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu is not well-formed %s", file->path,
	                 (unsigned long long)record->line,
	                 file->format == RECORDS_JSONL ? "JSON (one object a line)" : "CSV");
}

bool
user_file_has(const struct user_file *file, const char *name)
{
	struct user_record first = {0};
	struct columns columns;
	bool has = false;
	char *text;

	if (file->format == RECORDS_JSONL) {
		has = user_file_next(file, &first, NULL) > 0 &&
		      records_json_first_of(&first.record, &name, 1, first.text) >= 0;
		user_record_end(&first);
	} else if ((text = malloc(file->header.length + 1))) {
		has = find_column(file, name, &columns, text) >= 0;
		free(text);
	}
	return has;
}
