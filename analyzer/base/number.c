/*
 * number.c: prints numbers into tables and JSON as the shortest text that reads back the same, and reads the numbers of
 * users and of their files.
 *
 * Every double is identified by 17 significant digits, and every decimal of 15 survives the way through a double. So
 * the shortest text has at most 15 digits (trailing zeros are then left out), or 16, or 17, and three trials find it.
 * In the range where measures lie, the trials are exact integer arithmetic in 128 bits: with x = m / 2^s and k decimals
 * for 17 digits, e = m·10^k / 2^s is computed once. A candidate d is e rounded to a multiple of 100, of 10, or of 1. It
 * reads back as x if and only if d / 10^k is nearer to m / 2^s than half a unit of m. That is some 10 times faster than
 * snprintf() and strtod(), which do the same for the values outside that range.
 */
#include "number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MIN 1e-4 /* below this, %g writes exponents, and m·10^k would need more than 128 bits */
#define EXACT_MAX 1e4
#define WHOLE_MAX 1e15 /* whole numbers below this have at most 15 digits, and %g writes them without an exponent */
#define MOST_DIGITS 17
#define IMPLICIT_BIT (UINT64_C(1) << 52)

static const uint64_t powers_of_ten[20] = {
        UINT64_C(1),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
};

/* Writes exactly `count` digits, from the last one on, two at a time. */
static void
write_digits(uint64_t value, unsigned count, char *text)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	                            "8081828384858687888990919293949596979899";

	for (; count >= 2; value /= 100)
		memcpy(text + (count -= 2), pairs + 2 * (value % 100), 2);
	if (count > 0)
		text[0] = (char)('0' + value % 10);
}

static unsigned
count_digits(uint64_t value)
{
	unsigned count = 1;

	while (count < 20 && value >= powers_of_ten[count])
		count++;
	return count;
}

size_t
number_print_u64(uint64_t value, char *text)
{
	unsigned count = count_digits(value);

	write_digits(value, count, text);
	text[count] = '\0';
	return count;
}

size_t
number_print_grouped(uint64_t value, char *text)
{
	char digits[NUMBER_ROOM];
	size_t length = number_print_u64(value, digits), used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return used;
}

const char *
number_grouped(uint64_t value, char *text)
{
	number_print_grouped(value, text);
	return text;
}

/* Writes digits / 10^decimals without trailing zeros; digits > 0. */
static size_t
print_decimal(uint64_t digits, unsigned decimals, char *text)
{
	uint64_t whole;
	size_t used;

	while (decimals > 0 && digits % 10 == 0) {
		digits /= 10;
		decimals--;
	}
	whole = decimals < 20 ? digits / powers_of_ten[decimals] : 0;
	used = number_print_u64(whole, text);
	if (decimals == 0)
		return used;
	text[used++] = '.';
	write_digits(digits - (whole > 0 ? whole * powers_of_ten[decimals] : 0), decimals, text + used);
	text[used + decimals] = '\0';
	return used + decimals;
}

/* The number of digits of `value` before its decimal point; 0 and below for values under 0.1. */
static int
leading_position(double value)
{
	return -3 + (value >= 1e-3) + (value >= 1e-2) + (value >= 1e-1) + (value >= 1) + (value >= 10) +
	       (value >= 100) + (value >= 1000);
}

/* value in [EXACT_MIN, EXACT_MAX). */
static size_t
print_exact(double value, char *text)
{
	unsigned decimals = (unsigned)(MOST_DIGITS - leading_position(value)), shift;
	/* 10^20 does not fit 64 bits; 53 + 66.5 bits fit 128. */
	unsigned __int128 scale = decimals < 20 ? powers_of_ten[decimals]
	                                        : (unsigned __int128)powers_of_ten[19] * powers_of_ten[decimals - 19];
	unsigned __int128 exact;
	static const uint64_t steps[3] = {100, 10, 1};
	uint64_t bits, mantissa, floor, candidates[3];

	memcpy(&bits, &value, sizeof(bits));
	mantissa = (bits & (IMPLICIT_BIT - 1)) | IMPLICIT_BIT;
	shift = (unsigned)(1075 - (bits >> 52)); /* value = mantissa / 2^shift; 39 … 66 */
	exact = scale * mantissa;
	floor = (uint64_t)(exact >> shift);
	/* the candidates of 15, 16 and 17 digits */
	candidates[0] = (floor + 50) / 100;
	candidates[1] = (floor + 5) / 10;
	candidates[2] = floor + (exact >> (shift - 1) & 1);
	for (unsigned i = 0;; i++) {
		unsigned __int128 back = (unsigned __int128)(candidates[i] * steps[i]) << shift;
		bool below = back < exact;
		unsigned __int128 apart = below ? exact - back : back - exact;
		/* The lower neighbour of a power of two is only half a unit away. */
		unsigned __int128 half = scale >> (below && mantissa == IMPLICIT_BIT ? 2 : 1);

		if (apart < half || i == 2)
			return print_decimal(candidates[i], decimals - 2 + i, text);
	}
}

static size_t
print_positive(double value, char *text)
{
	if (value < WHOLE_MAX && value == (double)(uint64_t)value)
		return number_print_u64((uint64_t)value, text);
	if (value >= EXACT_MIN && value < EXACT_MAX)
		return print_exact(value, text);
	for (int digits = 15;; digits++) {
		int length = snprintf(text, NUMBER_ROOM - 1, "%.*g", digits, value);

		if (digits == 17 || strtod(text, NULL) == value)
			return (size_t)length;
	}
}

size_t
number_print(double value, char *text)
{
	assert(isfinite(value));
	if (value < 0) {
		text[0] = '-';
		return 1 + print_positive(-value, text + 1);
	}
	if (value > 0)
		return print_positive(value, text);
	memcpy(text, "0", 2);
	return 1;
}

bool
number_parse_u64(const char *text, size_t length, uint64_t *value)
{
	uint64_t sum = 0;

	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned)((unsigned char)text[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	*value = sum;
	return true;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Multiplies the value by 10^power. False: the product is no whole number, or does not fit. */
static bool
scale(uint64_t *value, long power)
{
	for (; power > 0 && *value > 0; power--)
		if (__builtin_mul_overflow(*value, 10, value))
			return false;
	for (; power < 0 && *value > 0; power++) {
		if (*value % 10 != 0)
			return false;
		*value /= 10;
	}
	return true;
}

/* Digits are read up to the last one that is not 0, so 4.000000000000000000000 is accepted. */
bool
number_parse_whole(const char *text, size_t length, uint64_t *value)
{
	const char *at = text, *end = text + length;
	uint64_t sum = 0, exponent = 0;
	long zeros = 0, power = 0;
	bool any = false, fraction = false, negative = false;

	while (at < end && is_blank(*at))
		at++;
	while (at < end && is_blank(end[-1]))
		end--;
	for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !fraction)); at++) {
		if (*at == '.') {
			fraction = true;
			continue;
		}
		any = true;
		power -= fraction;
		zeros++;
		if (*at == '0')
			continue;
		if (!scale(&sum, zeros) || __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
			return false;
		zeros = 0;
	}
	if (!any)
		return false;
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		negative = at < end && *at == '-';
		at += at < end && (*at == '-' || *at == '+');
		if (!number_parse_u64(at, (size_t)(end - at), &exponent) || exponent > 1000)
			return false;
		at = end;
	}
	if (at < end || !scale(&sum, zeros + power + (negative ? -(long)exponent : (long)exponent)))
		return false;
	*value = sum;
	return true;
}

bool
number_parse(const char *text, double *value)
{
	char *end;
	double parsed;

	if (strchr("0123456789+-.", text[0]) == NULL || text[0] == '\0' || strpbrk(text, "xXnN") != NULL)
		return false;
	parsed = strtod(text, &end);
	if (*end != '\0' || !isfinite(parsed))
		return false;
	*value = parsed;
	return true;
}

bool
number_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t value;

	if (!number_parse_u64(text, length - (unit != NULL), &value) || value > UINT64_MAX >> shift)
		return false;
	*bytes = value << shift;
	return true;
}
