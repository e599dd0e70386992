/*
 * records_json.c: members of a JSON record.
 *
 * JSON is scanned rather than parsed: keys and nesting suffice to find members of the outermost object, integers keep
 * all their digits (ids may need 64 bits without sign, which jansson's integers have not), and long texts cost no
 * copies. Strings with \u in them are decoded by jansson.
 */
#include "records.h"

#include <jansson.h>
#include <string.h>

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
			while (scan->at < scan->end && !ends_word(*scan->at))
				scan->at++;
			if (scan->at < scan->end && *scan->at == '\0')
				return false;
		}
	} while (depth > 0);
	return true;
}

static long
decode_by_jansson(const char *from, size_t size, char *text)
{
	json_t *value = json_loadb(from, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	size_t length;

	if (!value)
		return -2;
	length = json_string_length(value);
	memcpy(text, json_string_value(value), length);
	json_decref(value);
	return (long)length;
}

long
records_json_decode(const char *from, size_t size, char *text)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *at = from + 1, *end = from + size - 1, *escape;
	size_t used = 0;

	while ((escape = memchr(at, '\\', (size_t)(end - at)))) {
		const char *pair = escapes;

		if (escape[1] == 'u')
			return decode_by_jansson(from, size, text);
		while (*pair && *pair != escape[1])
			pair += 2;
		if (!*pair)
			return -2;
		memcpy(text + used, at, (size_t)(escape - at));
		used += (size_t)(escape - at);
		text[used++] = pair[1];
		at = escape + 2;
	}
	memcpy(text + used, at, (size_t)(end - at));
	return (long)(used + (size_t)(end - at));
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

static enum records_json_kind
kind_of(const char *from, size_t length)
{
	if (*from == '"')
		return RECORDS_JSON_STRING;
	if (*from == '-' || (*from >= '0' && *from <= '9'))
		return RECORDS_JSON_NUMBER;
	return is_word(from, length, "null")    ? RECORDS_JSON_NONE
	       : is_word(from, length, "true")  ? RECORDS_JSON_TRUE
	       : is_word(from, length, "false") ? RECORDS_JSON_FALSE
	                                        : RECORDS_JSON_OTHER;
}

struct members {
	const struct records_name *names;
	size_t count, left; /* not found yet */
	struct records_member *found;
	char *text;
};

/* Which of those not found yet has this key, quotes included; NULL: none. False: it is no string. */
static bool
find_name(const struct members *wanted, const char *key, size_t size, struct records_member **found)
{
	long length = (long)size - 2;
	const char *name = key + 1;

	*found = NULL;
	if (memchr(key, '\\', size)) {
		length = records_json_decode(key, size, wanted->text);
		name = wanted->text;
	}
	for (size_t i = 0; i < wanted->count && length >= 0 && !*found; i++)
		if (!wanted->found[i].at && (size_t)length == wanted->names[i].length &&
		    memcmp(name, wanted->names[i].text, (size_t)length) == 0)
			*found = &wanted->found[i];
	return length >= 0;
}

/* One member of the object, from its key on; false: not well-formed. */
static bool
take_member(struct scan *scan, struct members *wanted)
{
	struct records_member *found = NULL;
	const char *key, *value;

	skip_space(scan);
	key = scan->at;
	if (key >= scan->end || *key != '"' || !skip_string(scan))
		return false;
	if (wanted->left > 0 && !find_name(wanted, key, (size_t)(scan->at - key), &found))
		return false;
	if (!take(scan, ':'))
		return false;
	skip_space(scan);
	value = scan->at;
	if (!skip_value(scan))
		return false;
	if (found) {
		size_t size = (size_t)(scan->at - value);

		*found = (struct records_member){value, size, kind_of(value, size)};
		wanted->left--;
	}
	return true;
}

/* Goes on to the record's end when all is found: a line that was cut short is not to pass for a whole one. */
int
records_json_members(const struct record *record, const struct records_name *names, size_t count, char *text,
                     struct records_member *found)
{
	struct scan scan = {record->at, record->at + record->length};
	struct members wanted = {names, count, count, found, text};

	memset(found, 0, count * sizeof(*found));
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
	return scan.at == scan.end ? 0 : -2;
}

long
records_json_value(const struct record *record, const char *name, enum records_json_kind *kind, char *text)
{
	const struct records_name wanted = {name, strlen(name)};
	struct records_member member;

	if (records_json_members(record, &wanted, 1, text, &member) < 0)
		return -2;
	*kind = member.kind;
	if (member.kind == RECORDS_JSON_STRING)
		return records_json_decode(member.at, member.size, text);
	if (member.kind != RECORDS_JSON_NUMBER)
		return -1;
	memcpy(text, member.at, member.size);
	return (long)member.size;
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
		length = records_json_decode(key, (size_t)(scan.at - key), text);
		for (size_t i = 0; i < count; i++)
			if (length >= 0 && (size_t)length == strlen(names[i]) &&
			    memcmp(text, names[i], (size_t)length) == 0)
				return (long)i;
		if (!take(&scan, ':') || !skip_value(&scan))
			return -1;
	} while (take(&scan, ','));
	return -1;
}
