/*
 * tokenizer.h: the tokens of a text.
 *
 * A text is cut at white space and control characters of ASCII, what lies between by the rules for words of Unicode
 * (Standard Annex 29). What holds no letter and no digit is punctuation, and left out; the rest is a word: lower-cased,
 * composed (NFC), with ' for ’ and without characters that are not seen (soft hyphens, marks of direction). Words over
 * TOKEN_MAX bytes are left out. Stop words and short ones go next; what then are neighbours make n-grams, joined by
 * spaces.
 *
 *     tokenizer_init(&tokenizer, &rules);
 *     tokenizer_begin(&tokenizer, text, length, prefix);
 *     while ((code = tokenizer_next(&tokenizer, &token)) > 0)
 *             … token.text is valid until the next call …
 */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include "base/names.h"

#define TOKEN_MAX 256u
#define TOKEN_READABLE 16u
#define NGRAMS_MAX 5u

extern const char *const stop_words_english[]; /* ends with NULL */

struct token_rules {
	const struct names *stop_words; /* NULL: none */
	size_t min_length;              /* in characters */
	unsigned ngrams;                /* the longest; 1: words alone */
};

struct token {
	const char *text; /* TOKEN_READABLE bytes can be read there */
	size_t length;    /* at least 1 */
};

struct tokenizer_pieces { /* of a piece beyond ASCII: where its words end */
	char *breaks;
	size_t room;
};

#define TOKEN_PREFIX_MAX 255u
#define TOKEN_HISTORY (NGRAMS_MAX * (TOKEN_MAX + 1))
#define TOKEN_TEXT_MAX (TOKEN_PREFIX_MAX + TOKEN_HISTORY) /* bytes of any token */

struct tokenizer {
	struct token_rules rules;
	/* private */
	const char *prefix;
	size_t prefix_length;
	const char *at, *end;          /* what is left */
	const char *piece, *piece_end; /* beyond ASCII, of which at … piece_end is left; NULL: none */
	struct tokenizer_pieces pieces;
	char word[TOKEN_MAX + 1];
	char history[TOKEN_HISTORY]; /* the last words, joined by spaces */
	size_t history_length, starts[NGRAMS_MAX];
	unsigned words, pending; /* in the history; n-grams of its end not answered yet */
	char gram[TOKEN_TEXT_MAX];
};

enum {
	TOKENIZER_NOT_UTF8 = -1,
	TOKENIZER_MEMORY = -2,
};

void tokenizer_init(struct tokenizer *tokenizer, const struct token_rules *rules);
void tokenizer_free(struct tokenizer *tokenizer);

/* `prefix` (at most TOKEN_PREFIX_MAX bytes; "": none) stands before every token. Both stay the caller's. */
void tokenizer_begin(struct tokenizer *tokenizer, const char *text, size_t length, const char *prefix);

/* 1: a token; 0: no more; else one of the above. */
int tokenizer_next(struct tokenizer *tokenizer, struct token *token);

#endif
