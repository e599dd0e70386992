/*
 * json_line.c: parses a line of JSON for the importer and for readers of users' files, in one pass over the line.
 *
 * jansson, which builds a tree first, made an import of 200 MB of dynamics take 9 s of processor time; this parser
 * takes 4 s. Nor does jansson read ids of 64 bits and NaN. If strings are not to be checked, their ends are searched for
 * 16 bytes at a time.
 */
#include "json_line.h"

#include <portolan/bytes.h>
#include <portolan/error.h>
#include <portolan/utf8.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 2047 /* depth of arrays and objects within a record: jansson's limit, without the record */
#define DIGITS_SAFE 300 /* a number with so few characters, and no exponent, is within the range of doubles */

int
json_line_fail(struct json_line *line, const char *expected)
{
	line->expected = expected;
	return error_set(line->error, PORTOLAN_E_INVALID, "not JSON: %s expected at byte %zu", expected,
	                 (size_t)(line->at - line->begin) + 1);
}

static inline void
json_skip_space(struct json_line *line)
{
	while (line->at < line->end && *line->at <= ' ' &&
	       (*line->at == ' ' || *line->at == '\t' || *line->at == '\r' || *line->at == '\n'))
		line->at++;
}

static inline bool
json_take_char(struct json_line *line, char c)
{
	if (line->at == line->end || *line->at != c)
		return false;
	line->at++;
	return true;
}

static inline char
json_peek(struct json_line *line)
{
	json_skip_space(line);
	return line->at < line->end ? *line->at : 0;
}

char
json_line_peek(struct json_line *line)
{
	return json_peek(line);
}

static inline bool
json_take_next(struct json_line *line, char c)
{
	json_skip_space(line);
	return json_take_char(line, c);
}

bool
json_line_take(struct json_line *line, char c)
{
	return json_take_next(line, c);
}

static bool
json_take_word(struct json_line *line, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(line->end - line->at) < size || memcmp(line->at, word, size) != 0)
		return false;
	line->at += size;
	return true;
}

/* Reads the four hexadecimal digits at `at`. */
static bool
json_read_hexadecimal(const char *at, const char *end, uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";

	*value = 0;
	for (int i = 0; i < 4; i++) {
		const char *digit = at + i < end ? memchr(digits, at[i] | 0x20, 16) : NULL;

		if (!digit || at[i] < '0')
			return false;
		*value = *value << 4 | (uint32_t)(digit - digits);
	}
	return true;
}

static size_t
json_put_utf8(uint32_t c, char to[4])
{
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(size == 1 ? c : (0xff00u >> size & 0xff) | c);
	return size;
}

/* Decodes the escape at *at, behind its backslash, to UTF-8, and moves *at past it. Returns the number of bytes; 0: it
 * is no escape of JSON. */
static size_t
json_read_escape(const char **at, const char *end, char to[4])
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *from = *at, *letter = from < end ? memchr(letters, *from, strlen(letters)) : NULL;
	uint32_t c, low;

	*at = from + 1;
	if (letter) {
		to[0] = meant[letter - letters];
		return 1;
	}
	if (from == end || *from != 'u' || !json_read_hexadecimal(from + 1, end, &c) || (c >= 0xdc00 && c < 0xe000))
		return 0;
	*at = from + 5;
	if (c >= 0xd800 && c < 0xdc00) {
		if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u' ||
		    !json_read_hexadecimal(*at + 2, end, &low) || low < 0xdc00 || low >= 0xe000)
			return 0;
		*at += 6;
		c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
	}
	return json_put_utf8(c, to);
}

bool
json_line_decode_escapes(struct json_value *string, char *text)
{
	const char *at = string->at, *end = at + string->size, *escape;
	char *to = text;

	while ((escape = memchr(at, '\\', (size_t)(end - at)))) {
		char meant[4];
		size_t size;

		memcpy(to, at, (size_t)(escape - at));
		to += escape - at;
		at = escape + 1;
		if ((size = json_read_escape(&at, end, meant)) == 0)
			return false;
		memcpy(to, meant, size);
		to += size;
	}
	memcpy(to, at, (size_t)(end - at));
	*string = (struct json_value){JSON_LINE_STRING, false, text, (size_t)(to + (end - at) - text)};
	return true;
}

/* Is the string UTF-8 without control characters, and are its escapes valid? */
static int
json_check_string(struct json_line *line, const struct json_value *string)
{
	const char *at = string->at, *end = at + string->size;

	while (at < end) {
		const char *from;
		uint32_t point;
		char meant[4];

		while (at < end && (signed char)*at >= ' ' && *at != '\\')
			at++;
		if (at == end)
			break;
		line->at = at;
		if (*at == '\\') {
			at++;
			if (json_read_escape(&at, end, meant) == 0 || meant[0] == '\0')
				return json_line_fail(line, "an escape");
		} else {
			from = at;
			at += (uint8_t)*from < ' ' ? 0 : utf8_read(from, (size_t)(end - from), &point);
			if (at == from)
				return json_line_fail(line, "UTF-8 without control characters");
		}
	}
	line->at = end + 1;
	return 0;
}

/* Finds the first quote or backslash, so long as 16 bytes can be read. Returns where it stands; or where the search
 * ended without finding any. */
static inline const char *
json_find_end(const char *at, const char *end)
{
	for (; end - at >= (ptrdiff_t)sizeof(bytes_16); at += sizeof(bytes_16)) {
		bytes_16 bytes = bytes_read(at);
		uint32_t found = bytes_bits((bytes == '"') | (bytes == '\\'));

		if (found)
			return at + __builtin_ctz(found);
	}
	return at;
}

/* Finds the quote that ends a string. Each byte is searched for a quote once, and once for a backslash. NULL: there is
 * none. */
static const char *
json_find_quote(const char *at, const char *end, bool *has_escapes)
{
	const char *quote = NULL, *escape;

	for (;;) {
		if (!quote || quote < at)
			quote = memchr(at, '"', (size_t)(end - at));
		escape = quote ? memchr(at, '\\', (size_t)(quote - at)) : NULL;
		if (!escape)
			return quote;
		*has_escapes = true;
		at = escape + 2;
	}
}

static inline int
json_take_string(struct json_line *line, struct json_value *string)
{
	const char *from, *quote;
	bool has_escapes = false;

	if (!json_take_next(line, '"'))
		return json_line_fail(line, "a string");
	from = line->at;
	quote = json_find_end(from, line->end);
	if (quote == line->end || *quote != '"')
		quote = json_find_quote(quote, line->end, &has_escapes);
	if (!quote) {
		line->at = line->end;
		return json_line_fail(line, "the end of a string");
	}
	*string = (struct json_value){JSON_LINE_STRING, has_escapes, from, (size_t)(quote - from)};
	line->at = quote + 1;
	return line->is_strict ? json_check_string(line, string) : 0;
}

static bool
json_ends_number(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
json_take_digits(struct json_line *line)
{
	const char *from = line->at;

	while (line->at < line->end && *line->at >= '0' && *line->at <= '9')
		line->at++;
	return line->at > from;
}

/* Takes digits, fraction and exponent by the grammar of JSON. */
static int
json_take_decimal(struct json_line *line, bool *has_exponent)
{
	if (!json_take_char(line, '0') && !json_take_digits(line))
		return json_line_fail(line, "a value");
	if (json_take_char(line, '.') && !json_take_digits(line))
		return json_line_fail(line, "a digit");
	*has_exponent = json_take_char(line, 'e') || json_take_char(line, 'E');
	if (*has_exponent) {
		if (!json_take_char(line, '+'))
			json_take_char(line, '-');
		if (!json_take_digits(line))
			return json_line_fail(line, "a digit");
	}
	return 0;
}

/* Takes a number by the grammar of JSON, or a word of Python's. */
static int
json_take_number(struct json_line *line, struct json_value *value)
{
	bool has_exponent = false;

	*value = (struct json_value){.kind = JSON_LINE_NUMBER, .at = line->at};
	if (json_take_word(line, "NaN") || json_take_word(line, "Infinity") || json_take_word(line, "-Infinity")) {
		value->kind = JSON_LINE_NOT_FINITE;
	} else {
		json_take_char(line, '-');
		if (json_take_decimal(line, &has_exponent) < 0)
			return PORTOLAN_E_INVALID;
	}
	if (line->at == line->end || !json_ends_number(*line->at))
		return json_line_fail(line, "the end of a number");
	value->size = (size_t)(line->at - value->at);
	if (line->is_strict && (has_exponent || value->size > DIGITS_SAFE) && value->kind == JSON_LINE_NUMBER &&
	    !isfinite(strtod(value->at, NULL)))
		return json_line_fail(line, "a number within the range of doubles");
	return 0;
}

/* strtoull() and strtod() stop at the character after the number. */
bool
json_line_integer(const struct json_value *value, struct json_integer *integer)
{
	bool is_negative = value->size > 0 && *value->at == '-';

	if (value->kind != JSON_LINE_NUMBER)
		return false;
	for (size_t i = is_negative; i < value->size; i++)
		if (value->at[i] < '0' || value->at[i] > '9')
			return false;
	errno = 0;
	*integer = (struct json_integer){.size = strtoull(value->at + is_negative, NULL, 10), is_negative, false};
	integer->is_large = errno == ERANGE;
	return true;
}

double
json_line_double(const struct json_value *value)
{
	return strtod(value->at, NULL);
}

/* Takes a value that is neither an object nor an array. */
static inline int
json_take_scalar(struct json_line *line, char first, struct json_value *value)
{
	const char *from = line->at;

	if (first == '"')
		return json_take_string(line, value);
	if (first == 't' && json_take_word(line, "true"))
		*value = (struct json_value){JSON_LINE_TRUE, false, from, 4};
	else if (first == 'f' && json_take_word(line, "false"))
		*value = (struct json_value){JSON_LINE_FALSE, false, from, 5};
	else if (first == 'n' && json_take_word(line, "null"))
		*value = (struct json_value){JSON_LINE_NULL, false, from, 4};
	else
		return json_take_number(line, value);
	return 0;
}

static inline int
json_take_key(struct json_line *line, struct json_value *key)
{
	int code = json_take_string(line, key);

	if (code < 0 || json_take_next(line, ':'))
		return code < 0 ? code : 1;
	return json_line_fail(line, "':'");
}

int
json_line_first(struct json_line *line, struct json_value *key)
{
	if (!json_take_next(line, '{'))
		return json_line_fail(line, "an object");
	return json_take_next(line, '}') ? 0 : json_take_key(line, key);
}

int
json_line_next(struct json_line *line, struct json_value *key)
{
	if (json_take_next(line, ','))
		return json_take_key(line, key);
	return json_take_next(line, '}') ? 0 : json_line_fail(line, "',' or '}'");
}

/* As json_line_first() and json_line_next(), for the elements of an array, whose '[' is next. 1: a value follows; 0:
 * the array has ended. */
static int
json_take_opening(struct json_line *line)
{
	return json_take_next(line, '[') && json_take_next(line, ']') ? 0 : 1;
}

static int
json_take_separator(struct json_line *line)
{
	if (json_take_next(line, ','))
		return 1;
	return json_take_next(line, ']') ? 0 : json_line_fail(line, "',' or ']'");
}

/* Skips an object or an array. A bit for each open one says whether it is an object. */
static int
json_skip_nested(struct json_line *line)
{
	uint64_t objects[DEPTH_MOST / 64 + 1];
	struct json_value ignored;
	size_t depth = 0;
	int code; /* 1: a value follows; 0: an object or array has ended */

	do {
		char first = json_peek(line);

		if (first != '{' && first != '[') {
			code = json_take_scalar(line, first, &ignored);
		} else if (depth == DEPTH_MOST) {
			code = json_line_fail(line, "less depth");
		} else {
			uint64_t *word = &objects[depth / 64],
			         others = depth % 64 ? *word & ~(UINT64_C(1) << depth % 64) : 0;

			*word = others | (uint64_t)(first == '{') << depth % 64;
			code = first == '{' ? json_line_first(line, &ignored) : json_take_opening(line);
			depth += code != 0;
		}
		while (code == 0 && depth > 0) {
			bool is_object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;

			code = is_object ? json_line_next(line, &ignored) : json_take_separator(line);
			depth -= code == 0;
		}
	} while (code > 0);
	return code;
}

int
json_line_value(struct json_line *line, struct json_value *value)
{
	char first = json_peek(line);
	int code;

	if (first != '{' && first != '[')
		return json_take_scalar(line, first, value);
	*value = (struct json_value){.kind = first == '{' ? JSON_LINE_OBJECT : JSON_LINE_ARRAY, .at = line->at};
	code = json_skip_nested(line);
	value->size = (size_t)(line->at - value->at);
	return code;
}

int
json_line_end(struct json_line *line)
{
	json_skip_space(line);
	return line->at == line->end ? 0 : json_line_fail(line, "the end of the line");
}
