/*
 * words.h: attributes of texts that need no model: the share of words that a pair has in common, and whether it has
 * certain words. Pure, but for memory.
 *
 * A word is a run of letters, digits, apostrophes and characters beyond ASCII; letters of ASCII are compared without
 * case.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	const char *at; /* in the text */
	size_t length;
};

struct words {
	struct word *list; /* sorted, each once */
	size_t count, room;
};

/* Takes the words of a text, in place of those before. False: out of memory. */
bool words_take(struct words *words, const char *text);
void words_free(struct words *words);

/* |A ∩ B| / |A ∪ B|, Jaccard 1912; NaN: no words at all. */
double words_overlap(const struct words *a, const struct words *b);

bool words_share(const struct words *a, const struct words *b); /* at least one */

#endif
