/*
 * words.h: compares the words of texts, for `portolan groups --text-pair`: the share of words that two texts have in
 * common, and whether a text has certain words. It needs no model. Pure, but for memory.
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

/* Replaces the words by those of `text`. They point into the text. */
void words_take(struct words *words, const char *text);
void words_free(struct words *words);

/* |A ∩ B| / |A ∪ B|, Jaccard 1912; NaN: no words at all. */
double words_overlap(const struct words *a, const struct words *b);

bool words_share(const struct words *a, const struct words *b); /* have they a word in common? */

#endif
