/* records.c: cuts the text of a user's file into records, and records into fields (records.h). CSV is that of RFC 4180;
 * TSV knows no quotes. The members of a JSON record are read by collector/json. */
#include "records.h"

#include <string.h>
#include <strings.h>

enum table_format
records_format_of(const char *path, const char *text, size_t size)
{
	const char *dot = strrchr(path, '.');
	size_t i = 0, line;

	if (dot && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".ndjson") == 0 || strcasecmp(dot, ".json") == 0))
		return TABLE_JSONL;
	if (dot && strcasecmp(dot, ".csv") == 0)
		return TABLE_CSV;
	if (dot && strcasecmp(dot, ".tsv") == 0)
		return TABLE_TSV;
	while (i < size && strchr(" \t\r\n", text[i]))
		i++;
	if (i < size && text[i] == '{')
		return TABLE_JSONL;
	line = records_next(TABLE_TSV, text, size).length;
	return size > 0 && memchr(text, '\t', line) ? TABLE_TSV : TABLE_CSV;
}

/* The opening quote of a field between `at` and `end`, where a field begins at `begin`; NULL: there is none. */
static const char *
find_opening(const char *begin, const char *at, const char *end)
{
	for (; (at = memchr(at, '"', (size_t)(end - at))); at++)
		if (at == begin || at[-1] == ',')
			return at;
	return NULL;
}

/* The place after the closing quote; `at` is after the opening one. NULL: the quote is not closed. */
static const char *
skip_quoted(const char *at, const char *end)
{
	while ((at = memchr(at, '"', (size_t)(end - at)))) {
		if (at + 1 == end || at[1] != '"')
			return at + 1;
		at += 2;
	}
	return NULL;
}

/* Where a CSV record ends. A quote opens only at the beginning of a field, and closes where it is not doubled, as in
 * records_take_field(). Within a plain field (5" disk) it is a character like any other. */
static size_t
csv_end(const char *text, size_t size, bool *unclosed)
{
	const char *end = text + size, *at = text, *newline = NULL;

	for (*unclosed = false; at < end;) {
		const char *opening;

		if (!newline || newline < at)
			newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end;
		opening = find_opening(text, at, newline);
		if (!opening)
			return (size_t)(newline - text);
		at = skip_quoted(opening + 1, end);
		*unclosed = at == NULL;
		if (!at)
			return size;
	}
	return size;
}

struct record
records_next(enum table_format format, const char *text, size_t size)
{
	bool unclosed = false;
	size_t end;

	if (format == TABLE_CSV) {
		end = csv_end(text, size, &unclosed);
	} else {
		const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;

		end = newline ? (size_t)(newline - text) : size;
	}
	return (struct record){
	        .at = text,
	        .length = end > 0 && text[end - 1] == '\r' ? end - 1 : end,
	        .next = end < size ? end + 1 : size,
	        .unclosed = unclosed,
	};
}

/* Takes a field out of its quotes. Text after the closing quote belongs to the field. */
static struct field
unquote(const char *from, const char *end, char *text)
{
	const char *at = from + 1, *closing = memchr(at, '"', (size_t)(end - at));
	bool quoted = true;
	size_t used = 0;

	if (closing + 1 == end)
		return (struct field){at, (size_t)(closing - at), FIELD_TEXT};
	while (at < end) {
		char c = *at++;

		if (quoted && c == '"') {
			quoted = at < end && *at == '"';
			at += quoted;
			if (!quoted)
				continue;
		}
		text[used++] = c;
	}
	return (struct field){text, used, FIELD_TEXT};
}

bool
records_take_field(enum table_format format, const char **at, const char *end, char *text, struct field *field)
{
	const char *from = *at, *stop = from;
	bool quoted = format == TABLE_CSV && from < end && *from == '"';

	if (quoted && !(stop = skip_quoted(from + 1, end)))
		return false;
	stop = memchr(stop, format == TABLE_TSV ? '\t' : ',', (size_t)(end - stop));
	*at = stop ? stop + 1 : NULL;
	if (!stop)
		stop = end;
	if (text)
		*field = quoted ? unquote(from, stop, text) : (struct field){from, (size_t)(stop - from), FIELD_TEXT};
	return true;
}

struct field
records_trim(struct field field)
{
	while (field.length > 0 && (field.at[0] == ' ' || field.at[0] == '\t')) {
		field.at++;
		field.length--;
	}
	while (field.length > 0 && (field.at[field.length - 1] == ' ' || field.at[field.length - 1] == '\t'))
		field.length--;
	return field;
}

const char *
records_last_field(enum table_format format, const struct record *record)
{
	const char *at = record->at, *begin = at;

	while (records_take_field(format, &at, record->at + record->length, NULL, NULL) && at)
		begin = at;
	return begin;
}

size_t
records_first_fields(enum table_format format, const struct record *record, size_t count)
{
	const char *at = record->at;

	for (size_t i = 0; i < count; i++)
		if (!records_take_field(format, &at, record->at + record->length, NULL, NULL) || !at)
			return record->length;
	return count > 0 ? (size_t)(at - record->at) - 1 : 0;
}

size_t
records_count_fields(enum table_format format, const struct record *record)
{
	const char *at = record->at;
	size_t count = 0;

	do
		count++;
	while (records_take_field(format, &at, record->at + record->length, NULL, NULL) && at);
	return count;
}
