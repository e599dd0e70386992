/*
 * tokenizer.h: cuts users' texts into tokens, for the commands and the live page of `serve`, which count the words of
 * texts. A token is a word, or an n-gram of neighbouring words, joined by spaces.
 *
 * White space and control characters of ASCII end a piece. The rules of Unicode for words (Standard Annex 29) cut each
 * piece. A part with a letter or a digit is a word; every other part is punctuation, and left out. A word is
 * lower-cased and composed (NFC), with ' for ’, and without characters that are not seen (soft hyphens, marks of
 * direction). Words of more than TOKEN_MAX bytes, stop words and short words are left out. n-grams are made of
 * neighbours among the words that stay.
 *
 *     tokenizer_init(&tokenizer, &rules);
 *     tokenizer_begin(&tokenizer, text, length, prefix);
 *     while ((code = tokenizer_next(&tokenizer, &token)) > 0)
 *             … token.text is valid until the next call …
 */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include "token_list.h"
#include "tokenizer_unicode.h"

#include <stdbool.h>

#define TOKEN_READABLE 16u
#define NGRAMS_MAX 5u

struct token_rules {
	const struct names *stop_words; /* NULL: none */
	size_t min_length;              /* in characters */
	unsigned ngrams;                /* the words of the longest n-gram; 1: tokens are single words only */
	bool given; /* the text is a JSON list of strings, which are the words as they are (tokenizer_given.h) */
};

struct token {
	const char *text; /* at least TOKEN_READABLE bytes can be read there, whatever the length */
	size_t length;    /* at least 1 */
};

#define TOKEN_PREFIX_MAX 255u
#define TOKEN_HISTORY (NGRAMS_MAX * (TOKEN_MAX + 1))
#define TOKEN_TEXT_MAX (TOKEN_PREFIX_MAX + TOKEN_HISTORY) /* bytes of any token */

struct tokenizer {
	struct token_rules rules;
	/* private */
	const char *prefix;
	size_t prefix_length;
	const char *at, *end;          /* the rest of the text */
	bool is_inside;                /* the list that holds the words, of rules.given, has begun */
	const char *piece, *piece_end; /* the piece beyond ASCII that `at` is in; NULL: `at` is in none */
	struct tokenizer_pieces pieces;
	char word[TOKEN_MAX + 1];
	char history[TOKEN_HISTORY]; /* the last words, joined by spaces */
	size_t history_length;
	size_t starts[NGRAMS_MAX]; /* where the words begin in the history */
	unsigned words;            /* the number of words in the history */
	unsigned pending; /* how many n-grams that end with the last word tokenizer_next() has still to return */
	char gram[TOKEN_TEXT_MAX];
};

void tokenizer_init(struct tokenizer *tokenizer, const struct token_rules *rules);
void tokenizer_free(struct tokenizer *tokenizer);

/* Begins a text. `prefix` (at most TOKEN_PREFIX_MAX bytes; "": none) stands before each of its tokens. The text and the
 * prefix stay the caller's, unchanged until the last token was taken. */
void tokenizer_begin(struct tokenizer *tokenizer, const char *text, size_t length, const char *prefix);

/* Takes the next token of the text. Returns 1, or 0 where there is none, TOKENIZER_NOT_UTF8, TOKENIZER_MEMORY,
 * TOKENIZER_NO_LIST or TOKENIZER_NO_TEXT. */
int tokenizer_next(struct tokenizer *tokenizer, struct token *token);

/* Adds to the list the tokens that tokenizer_next() would take next, several times as fast where words are plain
 * (tokenizer_plain.h). Returns 1: the list is full, and the text may have more; or what tokenizer_next() returns in the
 * end. */
int tokenizer_list(struct tokenizer *tokenizer, struct token_list *list);

#endif
