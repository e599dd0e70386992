/* words.c: cuts texts into words, and compares two texts by their sorted words, for `portolan groups --text-pair`
 * (words.h). */
#include "words.h"

#include "die/memory.h"

#include <math.h>
#include <strings.h>

static bool
words_is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'' || c >= 0x80;
}

static int
words_compare(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int order = strncasecmp(x->at, y->at, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

void
words_take(struct words *words, const char *text)
{
	size_t kept = 0;

	words->count = 0;
	while (*text) {
		size_t length = 0;

		while (words_is_letter((unsigned char)text[length]))
			length++;
		if (length > 0) {
			words->list = memory_grow(words->list, &words->room, words->count + 1, sizeof(*words->list));
			words->list[words->count++] = (struct word){text, length};
		}
		text += length ? length : 1;
	}
	if (words->count)
		qsort(words->list, words->count, sizeof(*words->list), words_compare);
	for (size_t i = 0; i < words->count; i++)
		if (i == 0 || words_compare(&words->list[i], &words->list[kept - 1]) != 0)
			words->list[kept++] = words->list[i];
	words->count = kept;
}

void
words_free(struct words *words)
{
	free(words->list);
	*words = (struct words){0};
}

static size_t
words_count_shared(const struct words *a, const struct words *b)
{
	size_t shared = 0;

	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		int order = words_compare(&a->list[i], &b->list[j]);

		shared += order == 0;
		i += order <= 0;
		j += order >= 0;
	}
	return shared;
}

double
words_overlap(const struct words *a, const struct words *b)
{
	size_t shared = words_count_shared(a, b), together = a->count + b->count - shared;

	return together ? (double)shared / (double)together : NAN;
}

bool
words_share(const struct words *a, const struct words *b)
{
	return words_count_shared(a, b) > 0;
}
