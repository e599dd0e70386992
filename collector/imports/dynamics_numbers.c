/*
 * dynamics_numbers.c: a look at the tokens of a line, not a parser: strings are skipped, and words are looked at.
 *
 * jansson's own ways out lose something: JSON_DECODE_INT_AS_REAL the lower digits of ids, and nothing reads NaN. A
 * parser with callbacks for numbers (yajl) would help with the first only.
 */
#include "dynamics_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_SAFE 18           /* 10^18 < 2^63 */
#define MARKED_BEGIN "\"\\u0001" /* as JSON writes the mark */
#define SHORTEST 3               /* of the words that are marked: NaN */

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
	       c == '.';
}

static bool
is(const char *word, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(word, text, size) == 0;
}

static bool
is_large_integer(const char *word, size_t size)
{
	size_t sign = word[0] == '-';

	if (size - sign <= DIGITS_SAFE || word[sign] == '0')
		return false;
	for (size_t i = sign; i < size; i++)
		if (word[i] < '0' || word[i] > '9')
			return false;
	return true;
}

/* The end of the string that begins at `at`, behind its quote. */
static size_t
string_end(const char *line, size_t size, size_t at)
{
	for (at++; at < size && line[at] != '"'; at++)
		if (line[at] == '\\')
			at++;
	return at < size ? at + 1 : size;
}

static size_t
word_end(const char *line, size_t size, size_t at)
{
	while (at < size && is_word(line[at]))
		at++;
	return at;
}

static void
append(char *copy, size_t *used, const char *text, size_t size)
{
	memcpy(copy + *used, text, size);
	*used += size;
}

int
dynamics_mark_numbers(const char *line, size_t size, char **copy, size_t *copy_size)
{
	size_t used = 0, end, room = size + strlen(MARKED_BEGIN "\"") * (size / SHORTEST + 1);
	char *marked = malloc(room);
	int count = 0;

	if (!marked)
		return PORTOLAN_E_MEMORY;
	for (size_t at = 0; at < size; at = end) {
		const char *word = line + at;

		end = *word == '"' ? string_end(line, size, at) : is_word(*word) ? word_end(line, size, at) : at + 1;
		if (*word != '"' && (is(word, end - at, "NaN") || is(word, end - at, "Infinity") ||
		                     is(word, end - at, "-Infinity") || is_large_integer(word, end - at))) {
			append(marked, &used, MARKED_BEGIN, strlen(MARKED_BEGIN));
			append(marked, &used, word, end - at);
			append(marked, &used, "\"", 1);
			count++;
		} else {
			append(marked, &used, word, end - at);
		}
	}
	if (count == 0) {
		free(marked);
		return 0;
	}
	*copy = marked;
	*copy_size = used;
	return count;
}
