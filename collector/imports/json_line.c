/*
 * json_line.c: a parser of JSON that goes over the line once.
 *
 * jansson, which builds a tree first, made an import of 200 MB of dynamics take 9 s of processor time; this parser
 * makes it 4 s. Nor does jansson read ids of 64 bits and NaN.
 */
#include "json_line.h"

#include <portolan/error.h>
#include <portolan/utf8.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 2048

int
json_line_fail(struct json_line *line, const char *expected)
{
	return error_set(line->error, PORTOLAN_E_INVALID, "not JSON: %s expected at byte %zu", expected,
	                 (size_t)(line->at - line->begin) + 1);
}

char
json_line_peek(struct json_line *line)
{
	while (line->at < line->end &&
	       (*line->at == ' ' || *line->at == '\t' || *line->at == '\r' || *line->at == '\n'))
		line->at++;
	return line->at < line->end ? *line->at : 0;
}

static bool
take_char(struct json_line *line, char c)
{
	if (line->at == line->end || *line->at != c)
		return false;
	line->at++;
	return true;
}

bool
json_line_take(struct json_line *line, char c)
{
	json_line_peek(line);
	return take_char(line, c);
}

static bool
take_word(struct json_line *line, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(line->end - line->at) < size || memcmp(line->at, word, size) != 0)
		return false;
	line->at += size;
	return true;
}

static bool
take_hexadecimal(struct json_line *line, uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";

	*value = 0;
	for (int i = 0; i < 4; i++) {
		const char *digit = line->at < line->end ? memchr(digits, *line->at | 0x20, 16) : NULL;

		if (!digit || (*line->at < '0'))
			return false;
		*value = *value << 4 | (uint32_t)(digit - digits);
		line->at++;
	}
	return true;
}

static size_t
put_utf8(uint32_t c, char to[4])
{
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(size == 1 ? c : (0xff00u >> size & 0xff) | c);
	return size;
}

/* What stands behind a backslash, as UTF-8. Returns its bytes; 0: no escape of JSON. */
static size_t
take_escape(struct json_line *line, char to[4])
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = line->at < line->end ? memchr(letters, *line->at, strlen(letters)) : NULL;
	uint32_t c, low;

	if (letter) {
		line->at++;
		to[0] = meant[letter - letters];
		return 1;
	}
	if (!take_char(line, 'u') || !take_hexadecimal(line, &c) || c == 0 || (c >= 0xdc00 && c < 0xe000))
		return 0;
	if (c >= 0xd800 && c < 0xdc00) {
		if (!take_word(line, "\\u") || !take_hexadecimal(line, &low) || low < 0xdc00 || low >= 0xe000)
			return 0;
		c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
	}
	return put_utf8(c, to);
}

/* Characters that mean themselves, up to one that does not. */
static size_t
take_plain(struct json_line *line)
{
	const char *from = line->at;

	while (line->at < line->end && (signed char)*line->at >= ' ' && *line->at != '"' && *line->at != '\\')
		line->at++;
	return (size_t)(line->at - from);
}

int
json_line_string(struct json_line *line, char *text, size_t room, size_t *size)
{
	size_t used = 0, length;

	if (!json_line_take(line, '"'))
		return json_line_fail(line, "a string");
	while (line->at < line->end && *line->at != '"') {
		char escaped[4];
		const char *from = line->at;

		if ((length = take_plain(line)) == 0 && take_char(line, '\\')) {
			if ((length = take_escape(line, escaped)) == 0)
				return json_line_fail(line, "an escape");
			from = escaped;
		} else if (length == 0) {
			uint32_t point;

			length = (uint8_t)*from < ' ' ? 0 : utf8_read(from, (size_t)(line->end - from), &point);
			if (length == 0)
				return json_line_fail(line, "UTF-8 without control characters");
			line->at += length;
		}
		if (used + length < room)
			memcpy(text + used, from, length);
		used += length;
	}
	if (!take_char(line, '"'))
		return json_line_fail(line, "the end of a string");
	if (room > 0)
		text[used < room ? used : room - 1] = '\0';
	*size = used;
	return 0;
}

static bool
ends_number(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
take_digits(struct json_line *line)
{
	const char *from = line->at;

	while (line->at < line->end && *line->at >= '0' && *line->at <= '9')
		line->at++;
	return line->at > from;
}

/* A number by the grammar of JSON, or a word of Python's. strtod() and strtoull() stop at what follows it. */
static int
take_number(struct json_line *line, struct json_number *number)
{
	bool word = false;
	char c = json_line_peek(line);

	*number = (struct json_number){.text = line->at};
	number->is_negative = take_char(line, '-');
	if (c == 'N' || c == 'I' || (c == '-' && line->at < line->end && *line->at == 'I'))
		word = take_word(line, c == 'N' ? "NaN" : "Infinity");
	if (!word && !take_char(line, '0') && !take_digits(line))
		return json_line_fail(line, "a value");
	if (!word) {
		const char *whole = line->at;

		if (take_char(line, '.') && !take_digits(line))
			return json_line_fail(line, "a digit");
		if (take_char(line, 'e') || take_char(line, 'E')) {
			if (!take_char(line, '+'))
				take_char(line, '-');
			if (!take_digits(line))
				return json_line_fail(line, "a digit");
		}
		number->is_integer = line->at == whole;
	}
	if (line->at == line->end || !ends_number(*line->at))
		return json_line_fail(line, "the end of a number");
	number->size = (size_t)(line->at - number->text);
	number->value = strtod(number->text, NULL);
	if (!word && !isfinite(number->value))
		return json_line_fail(line, "a number within the range of doubles");
	errno = 0;
	if (number->is_integer)
		number->integer = strtoull(number->text + number->is_negative, NULL, 10);
	number->is_large = errno == ERANGE;
	return 0;
}

static int
take_value(struct json_line *line, struct json_number *number, int depth)
{
	char open = json_line_peek(line), close = open == '{' ? '}' : ']';
	size_t size;
	int result = 0;

	if (open == '"')
		return json_line_string(line, NULL, 0, &size);
	if (open != '{' && open != '[') {
		if (take_word(line, "true") || take_word(line, "false") || take_word(line, "null"))
			return 0;
		result = take_number(line, number);
		return result < 0 ? result : 1;
	}
	if (depth == DEPTH_MOST)
		return json_line_fail(line, "less depth");
	line->at++;
	if (json_line_take(line, close))
		return 0;
	do {
		if (open == '{' && (result = json_line_string(line, NULL, 0, &size)) == 0 && !json_line_take(line, ':'))
			result = json_line_fail(line, "':'");
		if (result >= 0)
			result = take_value(line, number, depth + 1);
	} while (result >= 0 && json_line_take(line, ','));
	if (result >= 0)
		result = json_line_take(line, close) ? 0 : json_line_fail(line, "',' or an end");
	return result;
}

int
json_line_value(struct json_line *line, struct json_number *number)
{
	return take_value(line, number, 1);
}
