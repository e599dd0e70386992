/*
 * suggest.c: finds the name for "did you mean …?" when a user mistyped a command, an option, a format or a measure.
 *
 * It takes the restricted Damerau-Levenshtein distance, computed in three rolling rows: swapped letters are the
 * commonest typing error and must count once. The limit on length bounds time and stack; all names of the program are
 * much shorter.
 */
#include "suggest.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_BYTES 63

static size_t
min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
suggest_distance(const char *a, const char *b)
{
	size_t rows[3][NAME_MAX_BYTES + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	size_t length_a = strlen(a), length_b = strlen(b);

	if (length_a > NAME_MAX_BYTES || length_b > NAME_MAX_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= length_b; j++)
		above[j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = min2(change, 1 + min2(above[j], row[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min2(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[length_b];
}

const char *
suggest_nearest(const char *word, const char *const *names, size_t count)
{
	const char *nearest = NULL;
	size_t least = SIZE_MAX, length = strlen(word);

	for (size_t i = 0; i < count; i++) {
		size_t distance = suggest_distance(word, names[i]);
		size_t limit = strlen(names[i]) / 3;

		if (length >= 2 && strncmp(names[i], word, length) == 0)
			distance = 0;
		if (distance <= (limit > 0 ? limit : 1) && distance < least) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest;
}
