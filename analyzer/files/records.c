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

/* The end of a CSV record. A quote opens only where a field begins, and closes where it is not doubled, as csv_field()
 * has it: one within a plain field (5" disk) is a character like any other. */
static size_t
csv_end(const char *text, size_t size, bool *unclosed)
{
	bool quoted = false, begins = true;
	size_t end = 0;

	for (; end < size && (quoted || text[end] != '\n'); end++) {
		if (quoted && text[end] == '"') {
			if (end + 1 < size && text[end + 1] == '"')
				end++;
			else
				quoted = false;
		} else if (!quoted) {
			quoted = begins && text[end] == '"';
			begins = text[end] == ',';
		}
	}
	*unclosed = quoted;
	return end < size ? end : size;
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

static bool
is_word(const char *from, const char *to, const char *word)
{
	return (size_t)(to - from) == strlen(word) && memcmp(from, word, (size_t)(to - from)) == 0;
}

/* The value from `from` to `to`, as text; -1: it is neither string nor number. */
static long
take_value(const char *from, const char *to, enum records_json_kind *kind, char *text)
{
	if (*from == '"') {
		*kind = RECORDS_JSON_STRING;
		return decode_string(from, to, text);
	}
	if (*from != '-' && (*from < '0' || *from > '9')) {
		*kind = is_word(from, to, "null")    ? RECORDS_JSON_NONE
		        : is_word(from, to, "true")  ? RECORDS_JSON_TRUE
		        : is_word(from, to, "false") ? RECORDS_JSON_FALSE
		                                     : RECORDS_JSON_OTHER;
		return -1;
	}
	*kind = RECORDS_JSON_NUMBER;
	memcpy(text, from, (size_t)(to - from));
	return to - from;
}

struct member {
	const char *name;
	char *text;
	bool is_found;
	long length; /* as records_json_field() answers */
	enum records_json_kind kind;
};

/* One member of the object, from its key on; false: not well-formed. */
static bool
take_member(struct scan *scan, struct member *wanted)
{
	const char *key, *value;
	long length = 0;

	skip_space(scan);
	key = scan->at;
	if (key >= scan->end || *key != '"' || !skip_string(scan))
		return false;
	if (!wanted->is_found) /* else the text is what was found */
		length = decode_string(key, scan->at, wanted->text);
	if (length < 0 || !take(scan, ':'))
		return false;
	skip_space(scan);
	value = scan->at;
	if (!skip_value(scan))
		return false;
	if (wanted->is_found || (size_t)length != strlen(wanted->name) ||
	    memcmp(wanted->text, wanted->name, (size_t)length) != 0)
		return true;
	wanted->is_found = true;
	wanted->length = take_value(value, scan->at, &wanted->kind, wanted->text);
	return wanted->length != -2;
}

/* Goes on to the record's end when the member is found: a line that was cut short is not to pass for a whole one. */
long
records_json_value(const struct record *record, const char *name, enum records_json_kind *kind, char *text)
{
	struct scan scan = {record->at, record->at + record->length};
	struct member wanted = {.name = name, .text = text, .length = -1, .kind = RECORDS_JSON_NONE};

	if (!take(&scan, '{'))
		return -2;
	if (!take(&scan, '}')) {
		do
			if (!take_member(&scan, &wanted))
				return -2;
		while (take(&scan, ','));
		if (!take(&scan, '}'))
			return -2;
	}
	skip_space(&scan);
	*kind = wanted.kind;
	return scan.at == scan.end ? wanted.length : -2;
}

long
records_json_field(const struct record *record, const char *name, char *text)
{
	enum records_json_kind kind;

	return records_json_value(record, name, &kind, text);
}

long
records_json_first_of(const struct record *record, const char *const *names, size_t count, char *text)
{
	struct scan scan = {record->at, record->at + record->length};

	if (!take(&scan, '{'))
		return -1;
	do {
		const char *key;
		long length;

		skip_space(&scan);
		key = scan.at;
		if (key >= scan.end || *key != '"' || !skip_string(&scan))
			return -1;
		length = decode_string(key, scan.at, text);
		for (size_t i = 0; i < count; i++)
			if (length >= 0 && (size_t)length == strlen(names[i]) &&
			    memcmp(text, names[i], (size_t)length) == 0)
				return (long)i;
		if (!take(&scan, ':') || !skip_value(&scan))
			return -1;
	} while (take(&scan, ','));
	return -1;
}
