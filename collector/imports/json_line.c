/*
 * json_line.c: a parser of JSON that goes over the line once.
 *
 * jansson, which builds a tree, takes four times as long for an import (measured with 200 MB of dynamics: 8.6 s and 2.1
 * s of processor time), and reads neither ids of 64 bits nor NaN. A decimal number of at most 2^53 in its digits, over
 * a power of ten up to 10^22, is rounded once, thus correctly (Clinger 1990); strtod() reads the others.
 */
#include "json_line.h"

#include <portolan/error.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 18 /* of an integer: below 2^63 */
#define EXACT_MOST (UINT64_C(1) << 53)
#define POWER_MOST 22
#define DEPTH_MOST 2048

struct digits {
	uint64_t value;     /* of the first DIGITS_MOST that are not zeros in front */
	int count;          /* of all of these */
	ptrdiff_t fraction; /* how many stand behind the point */
	bool has_exponent;
};

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

/* How many bytes the character beyond ASCII has; 0: this is no UTF-8. */
static size_t
utf8_size(const char *text, const char *end)
{
	const uint8_t *c = (const uint8_t *)text;
	size_t size = c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	if (size > (size_t)(end - text))
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, half of a pair, beyond U+10FFFF */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return size;
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
			if ((length = utf8_size(from, line->end)) == 0)
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
is_digit(const struct json_line *line)
{
	return line->at < line->end && *line->at >= '0' && *line->at <= '9';
}

static void
take_digits(struct json_line *line, struct digits *digits)
{
	for (; is_digit(line); line->at++) {
		if (digits->count < DIGITS_MOST)
			digits->value = digits->value * 10 + (uint64_t)(*line->at - '0');
		digits->count += digits->value > 0;
	}
}

/* NaN, Infinity or -Infinity. */
static bool
take_number_word(struct json_line *line, struct json_number *number)
{
	if (take_word(line, "NaN"))
		number->value = NAN;
	else if (take_word(line, "Infinity"))
		number->value = INFINITY;
	else if (take_word(line, "-Infinity"))
		number->value = -INFINITY;
	else
		return false;
	return true;
}

/* The part of a number behind its sign, by the grammar of JSON. */
static int
take_unsigned(struct json_line *line, struct json_number *number, struct digits *digits)
{
	if (!is_digit(line))
		return json_line_fail(line, "a value");
	if (*line->at == '0')
		line->at++;
	else
		take_digits(line, digits);
	number->is_integer = true;
	if (take_char(line, '.')) {
		const char *point = line->at;

		number->is_integer = false;
		take_digits(line, digits);
		digits->fraction = line->at - point;
		if (digits->fraction == 0)
			return json_line_fail(line, "a digit");
	}
	if (take_char(line, 'e') || take_char(line, 'E')) {
		number->is_integer = false;
		digits->has_exponent = true;
		if (!take_char(line, '+'))
			take_char(line, '-');
		if (!is_digit(line))
			return json_line_fail(line, "a digit");
		while (is_digit(line))
			line->at++;
	}
	return 0;
}

/* strtod() and strtoull() stop at what follows the number. */
static void
evaluate(struct json_number *number, const struct digits *digits)
{
	static const double powers[POWER_MOST + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
	                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

	number->integer = digits->value;
	if (number->is_integer && digits->count > DIGITS_MOST) {
		errno = 0;
		number->integer = strtoull(number->text + number->is_negative, NULL, 10);
		number->is_large = errno == ERANGE;
	}
	if (!digits->has_exponent && digits->count <= DIGITS_MOST && digits->value <= EXACT_MOST &&
	    digits->fraction <= POWER_MOST)
		number->value = (double)digits->value / powers[digits->fraction];
	else
		number->value = fabs(strtod(number->text, NULL));
	if (number->is_negative)
		number->value = -number->value;
}

static int
take_number(struct json_line *line, struct json_number *number)
{
	struct digits digits = {0};
	bool word;
	int result = 0;

	json_line_peek(line);
	*number = (struct json_number){.text = line->at};
	word = !is_digit(line) && take_number_word(line, number);
	if (!word) {
		number->is_negative = take_char(line, '-');
		result = take_unsigned(line, number, &digits);
	}
	if (result == 0 && (line->at == line->end || !ends_number(*line->at)))
		result = json_line_fail(line, "the end of a number");
	if (result < 0)
		return result;
	number->size = (size_t)(line->at - number->text);
	if (!word)
		evaluate(number, &digits);
	return word || isfinite(number->value) ? 0 : json_line_fail(line, "a number within the range of doubles");
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
