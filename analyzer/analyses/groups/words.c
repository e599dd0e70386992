/* words.c: see words.h. */
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

static bool
is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'' || c >= 0x80;
}

static int
compare(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int order = strncasecmp(x->at, y->at, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static bool
add(struct words *words, const char *at, size_t length)
{
	if (words->count == words->room) {
		size_t room = 2 * words->room + 32;
		struct word *grown = realloc(words->list, room * sizeof(*grown));

		if (!grown)
			return false;
		words->list = grown;
		words->room = room;
	}
	words->list[words->count++] = (struct word){at, length};
	return true;
}

bool
words_take(struct words *words, const char *text)
{
	size_t kept = 0;

	words->count = 0;
	while (*text) {
		size_t length = 0;

		while (is_letter((unsigned char)text[length]))
			length++;
		if (length && !add(words, text, length))
			return false;
		text += length ? length : 1;
	}
	if (words->count)
		qsort(words->list, words->count, sizeof(*words->list), compare);
	for (size_t i = 0; i < words->count; i++)
		if (i == 0 || compare(&words->list[i], &words->list[kept - 1]) != 0)
			words->list[kept++] = words->list[i];
	words->count = kept;
	return true;
}

void
words_free(struct words *words)
{
	free(words->list);
	*words = (struct words){0};
}

static size_t
count_shared(const struct words *a, const struct words *b)
{
	size_t shared = 0;

	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		int order = compare(&a->list[i], &b->list[j]);

		shared += order == 0;
		i += order <= 0;
		j += order >= 0;
	}
	return shared;
}

double
words_overlap(const struct words *a, const struct words *b)
{
	size_t shared = count_shared(a, b), together = a->count + b->count - shared;

	return together ? (double)shared / (double)together : NAN;
}

bool
words_share(const struct words *a, const struct words *b)
{
	return count_shared(a, b) > 0;
}
