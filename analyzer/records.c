/*
 * records.c: three text formats, only as far as finding records and one field takes.
 *
 * JSON is scanned rather than parsed: keys and nesting suffice to find a member of the outermost object, integers keep
 * all their digits (ids may need 64 bits without sign, which jansson's integers have not), and long texts cost no
 * copies. Strings are decoded by jansson. CSV is as in RFC 4180; TSV knows no quotes.
 */
#include "records.h"

#include <jansson.h>
#include <stdlib.h>
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

struct record
records_next(enum records_format format, const char *text, size_t size)
{
	bool quoted = false;
	size_t end = 0;

	if (format == RECORDS_CSV) {
		while (end < size && (quoted || text[end] != '\n')) {
			quoted ^= text[end] == '"';
			end++;
		}
	} else {
		const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;

		end = newline ? (size_t)(newline - text) : size;
	}
	return (struct record){
	        .at = text,
	        .length = end > 0 && text[end - 1] == '\r' ? end - 1 : end,
	        .next = end < size ? end + 1 : size,
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

struct scan {
	const char *at, *end;
};

static void
skip_space(struct scan *scan)
{
	while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at)
		scan->at++;
}

/* Past a string, whose opening quote is at scan->at. */
static bool
skip_string(struct scan *scan)
{
	for (scan->at++; scan->at < scan->end; scan->at++) {
		if (*scan->at == '"') {
			scan->at++;
			return true;
		}
		if (*scan->at == '\\')
			scan->at++;
	}
	return false;
}

/* Past any value. Brackets are counted, not matched by kind. */
static bool
skip_value(struct scan *scan)
{
	size_t depth = 0;

	do {
		skip_space(scan);
		if (scan->at >= scan->end)
			return false;
		switch (*scan->at) {
		case '"':
			if (!skip_string(scan))
				return false;
			break;
		case '{':
		case '[':
			depth++;
			scan->at++;
			break;
		case '}':
		case ']':
			if (depth == 0)
				return false;
			depth--;
			scan->at++;
			break;
		case ',':
		case ':':
			if (depth == 0)
				return false;
			scan->at++;
			break;
		default:
			while (scan->at < scan->end && !strchr(" \t\r\n,:]}[{\"", *scan->at))
				scan->at++;
			if (scan->at < scan->end && *scan->at == '\0')
				return false;
		}
	} while (depth > 0);
	return true;
}

/* The text that a JSON string from `from` to `to`, quotes included, stands for; -2: it is no string. */
static long
decode_string(const char *from, const char *to, char *text)
{
	json_t *value;
	size_t length;

	if (!memchr(from, '\\', (size_t)(to - from))) {
		length = (size_t)(to - from) - 2;
		memcpy(text, from + 1, length);
		return (long)length;
	}
	value = json_loadb(from, (size_t)(to - from), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (!value)
		return -2;
	length = json_string_length(value);
	memcpy(text, json_string_value(value), length);
	json_decref(value);
	return (long)length;
}

static bool
take(struct scan *scan, char c)
{
	skip_space(scan);
	if (scan->at >= scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

long
records_json_field(const struct record *record, const char *name, char *text)
{
	struct scan scan = {record->at, record->at + record->length};
	size_t name_length = strlen(name);
	long found = -1;

	if (!take(&scan, '{'))
		return -2;
	if (take(&scan, '}'))
		return -1;
	do {
		const char *key, *value;
		long length;

		skip_space(&scan);
		key = scan.at;
		if (key >= scan.end || *key != '"' || !skip_string(&scan))
			return -2;
		length = decode_string(key, scan.at, text);
		if (length < 0 || !take(&scan, ':'))
			return -2;
		skip_space(&scan);
		value = scan.at;
		if (!skip_value(&scan))
			return -2;
		if ((size_t)length != name_length || memcmp(text, name, name_length) != 0)
			continue;
		if (*value == '"') {
			found = decode_string(value, scan.at, text);
		} else if (*value == '-' || (*value >= '0' && *value <= '9')) {
			found = scan.at - value;
			memcpy(text, value, (size_t)found);
		}
		return found;
	} while (take(&scan, ','));
	return take(&scan, '}') ? -1 : -2;
}
