/* records.c: three text formats, only as far as finding records and fields takes. CSV is as in RFC 4180; TSV knows no
 * quotes. JSON is in records_json.c. */
#include "records.h"

#include <string.h>
#include <strings.h>

enum records_format
records_format_of(const char *path, const char *text, size_t size)
{
	const char *dot = strrchr(path, '.');
	size_t i = 0, line;

	if (dot && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".ndjson") == 0 || strcasecmp(dot, ".json") == 0))
		return RECORDS_JSONL;
	if (dot && strcasecmp(dot, ".csv") == 0)
		return RECORDS_CSV;
	if (dot && strcasecmp(dot, ".tsv") == 0)
		return RECORDS_TSV;
	while (i < size && strchr(" \t\r\n", text[i]))
		i++;
	if (i < size && text[i] == '{')
		return RECORDS_JSONL;
	line = records_next(RECORDS_TSV, text, size).length;
	return size > 0 && memchr(text, '\t', line) ? RECORDS_TSV : RECORDS_CSV;
}

/* The quote that opens a field between `at` and `end`, where a field begins at `begin`; NULL: none does. */
static const char *
find_opening(const char *begin, const char *at, const char *end)
{
	for (; (at = memchr(at, '"', (size_t)(end - at))); at++)
		if (at == begin || at[-1] == ',')
			return at;
	return NULL;
}

/* Past the quote that closes, `at` being behind the one that opened; NULL: none does. */
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

/* The end of a CSV record. A quote opens only where a field begins, and closes where it is not doubled, as csv_field()
 * has it: one within a plain field (5" disk) is a character like any other. */
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
records_next(enum records_format format, const char *text, size_t size)
{
	bool unclosed = false;
	size_t end;

	if (format == RECORDS_CSV) {
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

static long
tsv_field(const struct record *record, size_t number, char *text)
{
	const char *at = record->at, *end = record->at + record->length, *tab;

	for (; number > 0; number--) {
		tab = memchr(at, '\t', (size_t)(end - at));
		if (!tab)
			return -1;
		at = tab + 1;
	}
	tab = memchr(at, '\t', (size_t)(end - at));
	memcpy(text, at, (size_t)((tab ? tab : end) - at));
	return (tab ? tab : end) - at;
}

static long
csv_field(const struct record *record, size_t number, char *text)
{
	size_t at = 0, used = 0;

	for (;; number--) {
		bool quoted = at < record->length && record->at[at] == '"';

		at += quoted;
		used = 0;
		while (at < record->length && (quoted || record->at[at] != ',')) {
			char c = record->at[at++];

			if (quoted && c == '"' && !(at < record->length && record->at[at] == '"')) {
				quoted = false;
				continue;
			}
			at += quoted && c == '"';
			text[used++] = c;
		}
		if (quoted)
			return -2;
		if (number == 0)
			return (long)used;
		if (at >= record->length)
			return -1;
		at++;
	}
}

long
records_field(enum records_format format, const struct record *record, size_t number, char *text)
{
	return format == RECORDS_TSV ? tsv_field(record, number, text) : csv_field(record, number, text);
}

size_t
records_count_fields(enum records_format format, const struct record *record)
{
	char separator = format == RECORDS_TSV ? '\t' : ',';
	bool quoted = false, begins = true;
	size_t count = 1;

	for (size_t at = 0; at < record->length; at++) {
		char c = record->at[at];

		if (format == RECORDS_CSV && c == '"' && (quoted || begins)) {
			quoted = !quoted; /* a doubled one closes and opens again */
			begins = !quoted;
			continue;
		}
		begins = !quoted && c == separator;
		count += begins;
	}
	return count;
}
