/*
 * dynamics_plain.c: guid, gold and logits, each once and nothing else, ids and strings without anything special.
 *
 * Whatever is unusual, wrong or merely not foreseen is left to the parser of JSON proper, which also finds the words
 * for it: so this file never reports anything, and accepts no line that the other would refuse. A decimal number of at
 * most 2^53 in its digits, times or over a power of ten up to 10^22, is rounded once, thus correctly (Clinger 1990);
 * strtod() reads the others.
 */
#include "dynamics_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 18 /* of an integer: below 2^63 */
#define EXACT_MOST (UINT64_C(1) << 53)
#define POWER_MOST 22
#define KEY "logits_epoch_"

struct reader {
	const char *at, *end;
};

struct number {
	const char *begin;
	uint64_t digits; /* as an integer; only if there are at most DIGITS_MOST */
	int count, fraction;
	bool negative, integer, has_exponent;
};

static void
skip_space(struct reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r' || *reader->at == '\n'))
		reader->at++;
}

static bool
take(struct reader *reader, char c)
{
	skip_space(reader);
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

static bool
is_digit(const struct reader *reader)
{
	return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

/* A string of printable ASCII without escapes. */
static bool
take_string(struct reader *reader, const char **text, size_t *size)
{
	if (!take(reader, '"'))
		return false;
	*text = reader->at;
	while (reader->at < reader->end && *reader->at >= ' ' && *reader->at < 0x7f && *reader->at != '"' &&
	       *reader->at != '\\')
		reader->at++;
	*size = (size_t)(reader->at - *text);
	return take(reader, '"') && *text + *size + 1 == reader->at;
}

static void
take_digits(struct reader *reader, struct number *number)
{
	for (; is_digit(reader); reader->at++) {
		if (number->count < DIGITS_MOST)
			number->digits = number->digits * 10 + (uint64_t)(*reader->at - '0');
		number->count += number->digits > 0 || number->count > 0;
	}
}

/* By the grammar of JSON, and followed by something that ends it. */
static bool
take_number(struct reader *reader, struct number *number)
{
	skip_space(reader);
	*number = (struct number){.begin = reader->at, .integer = true};
	if (reader->at < reader->end && *reader->at == '-') {
		number->negative = true;
		reader->at++;
	}
	if (!is_digit(reader))
		return false;
	if (*reader->at == '0')
		reader->at++;
	else
		take_digits(reader, number);
	if (reader->at < reader->end && *reader->at == '.') {
		const char *point = reader->at++;

		number->integer = false;
		take_digits(reader, number);
		number->fraction = (int)(reader->at - point) - 1;
		if (number->fraction == 0)
			return false;
	}
	if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
		number->integer = false;
		number->has_exponent = true;
		reader->at++;
		if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
			reader->at++;
		if (!is_digit(reader))
			return false;
		while (is_digit(reader))
			reader->at++;
	}
	return reader->at < reader->end && memchr(",]} \t\r\n", *reader->at, 7) != NULL;
}

static bool
take_integer(struct reader *reader, uint64_t *value)
{
	struct number number;

	if (!take_number(reader, &number) || !number.integer || number.negative || number.count > DIGITS_MOST)
		return false;
	*value = number.digits;
	return true;
}

static bool
take_real(struct reader *reader, double *value)
{
	static const double powers[POWER_MOST + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
	                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	struct number number;

	if (!take_number(reader, &number) || (number.integer && number.count > DIGITS_MOST))
		return false;
	if (number.integer) {
		*value = number.negative ? (double)-(int64_t)number.digits : (double)number.digits;
	} else if (!number.has_exponent && number.count <= DIGITS_MOST && number.digits <= EXACT_MOST &&
	           number.fraction <= POWER_MOST) {
		*value = (double)number.digits / powers[number.fraction];
		*value = number.negative ? -*value : *value;
	} else {
		*value = strtod(number.begin, NULL); /* it stops at what follows the number */
	}
	return isfinite(*value);
}

static bool
take_logits(struct reader *reader, struct dynamics_row *row)
{
	row->classes = 0;
	if (!take(reader, '['))
		return false;
	do {
		if (row->classes == row->room) {
			size_t room = row->room ? 2 * row->room : 16;
			double *grown =
			        room <= DYNAMICS_CLASSES_MOST ? realloc(row->logits, room * sizeof(*grown)) : NULL;

			if (!grown)
				return false;
			row->logits = grown;
			row->room = room;
		}
		if (!take_real(reader, &row->logits[row->classes++]))
			return false;
	} while (take(reader, ','));
	return take(reader, ']');
}

static bool
take_guid(struct reader *reader, struct dynamics_row *row)
{
	const char *text;
	size_t size;

	skip_space(reader);
	row->is_text = reader->at < reader->end && *reader->at == '"';
	if (!row->is_text)
		return take_integer(reader, &row->integer);
	if (!take_string(reader, &text, &size) || size == 0 || size >= sizeof(row->text))
		return false;
	memcpy(row->text, text, size);
	row->text[size] = '\0';
	return true;
}

static bool
is(const char *key, size_t size, const char *name)
{
	return size == strlen(name) && memcmp(key, name, size) == 0;
}

/* "logits_epoch_12", as printf() writes the number. */
static bool
is_logits_key(const char *key, size_t size, uint32_t epoch)
{
	char digits[10];
	size_t at = sizeof(digits), prefix = strlen(KEY);

	do
		digits[--at] = (char)('0' + epoch % 10);
	while ((epoch /= 10) > 0);
	return size == prefix + sizeof(digits) - at && memcmp(key, KEY, prefix) == 0 &&
	       memcmp(key + prefix, digits + at, sizeof(digits) - at) == 0;
}

bool
dynamics_parse_plain(const char *line, size_t size, uint32_t epoch, struct dynamics_row *row)
{
	struct reader reader = {line, line + size};
	uint64_t gold = 0, most;
	unsigned seen = 0;

	if (!take(&reader, '{'))
		return false;
	do {
		const char *key;
		size_t key_size;
		unsigned member;
		bool taken;

		if (!take_string(&reader, &key, &key_size) || !take(&reader, ':'))
			return false;
		member = is(key, key_size, "guid") ? 1 : is(key, key_size, "gold") ? 2 : 4;
		if ((seen & member) || (member == 4 && !is_logits_key(key, key_size, epoch)))
			return false;
		seen |= member;
		taken = member == 1   ? take_guid(&reader, row)
		        : member == 2 ? take_integer(&reader, &gold)
		                      : take_logits(&reader, row);
		if (!taken)
			return false;
	} while (take(&reader, ','));
	if (!take(&reader, '}') || seen != 7)
		return false;
	skip_space(&reader);
	most = row->classes == 1 ? 1 : row->classes - 1;
	row->gold = (int32_t)gold;
	return reader.at == reader.end && gold <= most;
}
