/*
 * records_json.c: members of a JSON record.
 *
 * JSON is scanned rather than parsed: keys and nesting suffice to find members of the outermost object, integers keep
 * all their digits (ids may need 64 bits without sign, which jansson's integers have not), and long texts cost no
 * copies. Strings with \u in them are decoded by jansson.
 */
#include "records.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 2048 /* of arrays and objects within each other, as jansson has it */

struct scan {
	const char *at, *end;
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
skip_space(struct scan *scan)
{
	while (scan->at < scan->end && *scan->at <= ' ' && is_space(*scan->at))
		scan->at++;
}

/* Past a string, whose opening quote is at scan->at. Every byte is looked at for a quote once, and once for what
 * would escape it. */
static bool
skip_string(struct scan *scan)
{
	const char *at = scan->at + 1, *quote = NULL, *escape;

	for (;;) {
		if (at > scan->end)
			return false;
		if (!quote || quote < at)
			quote = memchr(at, '"', (size_t)(scan->end - at));
		if (!quote)
			return false;
		escape = memchr(at, '\\', (size_t)(quote - at));
		if (!escape)
			break;
		at = escape + 2;
	}
	scan->at = quote + 1;
	return true;
}

static bool
ends_word(char c)
{
	return is_space(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"' ||
	       c == '\0';
}

/* Past any value. Every bracket is closed by one of its kind; a bit for each that is open says which. */
static bool
skip_value(struct scan *scan)
{
	uint64_t open[DEPTH_MAX / 64]; /* 1: an object */
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
			if (depth == DEPTH_MAX)
				return false;
			if (depth % 64 == 0)
				open[depth / 64] = 0;
			open[depth / 64] = (open[depth / 64] & ~(UINT64_C(1) << depth % 64)) |
			                   (uint64_t)(*scan->at++ == '{') << depth % 64;
			depth++;
			break;
		case '}':
		case ']':
			if (depth-- == 0 || (open[depth / 64] >> depth % 64 & 1) != (*scan->at++ == '}'))
				return false;
			break;
		case ',':
		case ':':
			if (depth == 0)
				return false;
			scan->at++;
			break;
		default:
			while (scan->at < scan->end && !ends_word(*scan->at))
				scan->at++;
			if (scan->at < scan->end && *scan->at == '\0')
				return false;
		}
	} while (depth > 0);
	return true;
}

static bool
decode_by_jansson(struct field *value, char *text)
{
	json_t *string = json_loadb(value->at, value->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (!string)
		return false;
	value->length = json_string_length(string);
	memcpy(text, json_string_value(string), value->length);
	value->at = text;
	json_decref(string);
	return true;
}

/* A string with escapes: backslashes, between its quotes. */
static bool
decode_string(struct field *value, char *text)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *at = value->at + 1, *end = value->at + value->length - 1, *escape;
	size_t used = 0;

	while ((escape = memchr(at, '\\', (size_t)(end - at)))) {
		const char *pair = escapes;

		if (escape[1] == 'u')
			return decode_by_jansson(value, text);
		while (*pair && *pair != escape[1])
			pair += 2;
		if (!*pair)
			return false;
		memcpy(text + used, at, (size_t)(escape - at));
		used += (size_t)(escape - at);
		text[used++] = pair[1];
		at = escape + 2;
	}
	memcpy(text + used, at, (size_t)(end - at));
	value->at = text;
	value->length = used + (size_t)(end - at);
	return true;
}

bool
records_json_decode(struct field *value, char *text)
{
	if (value->kind == FIELD_NULL)
		*value = (struct field){.kind = FIELD_NULL};
	if (value->kind == FIELD_TRUTH) {
		value->at = *value->at == 't' ? "1" : "0";
		value->length = 1;
	}
	if (value->kind != FIELD_TEXT)
		return true;
	if (memchr(value->at, '\\', value->length))
		return decode_string(value, text);
	value->at++;
	value->length -= 2;
	return true;
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
is_word(const char *from, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(from, word, length) == 0;
}

static enum field_kind
kind_of(const char *from, size_t length)
{
	if (*from == '"')
		return FIELD_TEXT;
	if (*from == '-' || (*from >= '0' && *from <= '9'))
		return FIELD_NUMBER;
	if (is_word(from, length, "null"))
		return FIELD_NULL;
	return is_word(from, length, "true") || is_word(from, length, "false") ? FIELD_TRUTH : FIELD_OTHER;
}

static bool
visit_member(struct scan *scan, char *text,
             bool (*visit)(void *context, const struct field *key, const struct field *value), void *context)
{
	struct field key = {.kind = FIELD_TEXT}, value;

	skip_space(scan);
	key.at = scan->at;
	if (scan->at >= scan->end || *scan->at != '"' || !skip_string(scan))
		return false;
	key.length = (size_t)(scan->at - key.at);
	if (!records_json_decode(&key, text) || !take(scan, ':'))
		return false;
	skip_space(scan);
	value.at = scan->at;
	if (!skip_value(scan))
		return false;
	value.length = (size_t)(scan->at - value.at);
	value.kind = kind_of(value.at, value.length);
	return visit(context, &key, &value);
}

bool
records_json_members(const struct record *record, char *text,
                     bool (*visit)(void *context, const struct field *key, const struct field *value), void *context)
{
	struct scan scan = {record->at, record->at + record->length};

	if (!take(&scan, '{'))
		return false;
	if (!take(&scan, '}')) {
		do
			if (!visit_member(&scan, text, visit, context))
				return false;
		while (take(&scan, ','));
		if (!take(&scan, '}'))
			return false;
	}
	skip_space(&scan);
	return scan.at == scan.end;
}
