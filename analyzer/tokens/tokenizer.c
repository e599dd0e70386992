/*
 * tokenizer.c: cuts users' texts into words and n-grams, for the commands and the live page, which count them
 * (tokenizer.h).
 *
 * A piece is what stands between white space. Most pieces are ASCII, and are cut here, as the rules of Annex 29 cut
 * ASCII: letters, digits and _ stay together; so do letters around one of : . ' and digits around one of , ; . '. All
 * other pieces are cut by libunistring (tokenizer_unicode.c). A test holds both against each other.
 */
#include "tokenizer.h"

#include "tokenizer_given.h"
#include "tokenizer_plain.h"

#include <stdlib.h>
#include <string.h>

enum {
	LETTER = 1, /* shifted left by five, this is the bit that makes a letter lower-case */
	DIGIT = 2,
	JOINS = 4,      /* the character _ */
	IN_LETTERS = 8, /* one of : . ' is part of a word between two letters */
	IN_DIGITS = 16, /* one of , ; . ' is part of a word between two digits */
	SPACE = 32,     /* ends a piece */
	BEYOND = 64,    /* a byte of a character that is not ASCII */
	WORD = LETTER | DIGIT | JOINS,
};

static const uint8_t kinds[256] = {
        [0 ... ' '] = SPACE,
        [0x7f] = SPACE,
        ['0' ... '9'] = DIGIT,
        ['A' ... 'Z'] = LETTER,
        ['a' ... 'z'] = LETTER,
        ['_'] = JOINS,
        [':'] = IN_LETTERS,
        ['.'] = IN_LETTERS | IN_DIGITS,
        ['\''] = IN_LETTERS | IN_DIGITS,
        [','] = IN_DIGITS,
        [';'] = IN_DIGITS,
        [0x80 ... 0xff] = BEYOND,
};

static uint8_t
tokenizer_kind(char c)
{
	return kinds[(unsigned char)c];
}

void
tokenizer_init(struct tokenizer *tokenizer, const struct token_rules *rules)
{
	*tokenizer = (struct tokenizer){.rules = *rules};
}

void
tokenizer_free(struct tokenizer *tokenizer)
{
	free(tokenizer->pieces.breaks);
	tokenizer->pieces = (struct tokenizer_pieces){0};
}

void
tokenizer_begin(struct tokenizer *tokenizer, const char *text, size_t length, const char *prefix)
{
	tokenizer->at = text;
	tokenizer->end = text + length;
	tokenizer->is_inside = false;
	tokenizer->piece = NULL;
	tokenizer->prefix = prefix;
	tokenizer->prefix_length = *prefix ? strlen(prefix) : 0;
	tokenizer->history_length = 0;
	tokenizer->words = tokenizer->pending = 0;
}

/* Takes the ASCII word that begins at `at`, lower-cased. Returns where it ends. *length is 0 if it is no word, or too
 * long. NULL: a character beyond ASCII decides where the word ends. */
static const char *
tokenizer_take_ascii(const char *at, const char *end, char *word, long *length)
{
	const char *from = at;
	unsigned all = 0, kind = 0, next, around;
	size_t used = 0;

	for (;;) {
		for (; at < end && (kind = tokenizer_kind(*at)) & WORD; at++) {
			all |= kind;
			word[used] = (char)(*at | (kind & LETTER) << 5);
			used += used < TOKEN_MAX;
		}
		if (at == end)
			break;
		if (kind & BEYOND)
			return NULL;
		around = (kind & IN_LETTERS ? LETTER : 0u) | (kind & IN_DIGITS ? DIGIT : 0u);
		if (!around)
			break;
		next = at + 1 < end ? tokenizer_kind(at[1]) : SPACE;
		if (next & BEYOND)
			return NULL;
		if (!(tokenizer_kind(at[-1]) & next & around))
			break;
		word[used] = *at++;
		used += used < TOKEN_MAX;
	}
	*length = all & (LETTER | DIGIT) && at - from <= (long)TOKEN_MAX ? (long)used : 0;
	return at;
}

typedef int8_t byte_vector __attribute__((vector_size(TOKEN_READABLE)));

/* Takes the word at `at`, lower-cased, if it is at most 14 letters and digits of ASCII: 16 bytes are looked at in one
 * step. Returns the word's length; 0: it may be another kind of word, which tokenizer_take_ascii() takes. */
static size_t
tokenizer_take_short(const char *at, const char *end, char *word)
{
	byte_vector bytes, lower, letters, others;
	char tail[TOKEN_READABLE] = {0};
	uint64_t halves[2];
	size_t size;

	if (end - at < (ptrdiff_t)sizeof(tail))
		at = memcpy(tail, at, (size_t)(end - at));
	memcpy(&bytes, at, sizeof(bytes));
	lower = bytes | 0x20;
	letters = (lower >= 'a') & (lower <= 'z');
	others = ~(letters | ((bytes >= '0') & (bytes <= '9')));
	memcpy(halves, &others, sizeof(halves));
	if (halves[0])
		size = (size_t)__builtin_ctzll(le64toh(halves[0])) / 8;
	else
		size = halves[1] ? 8 + (size_t)__builtin_ctzll(le64toh(halves[1])) / 8 : 16;
	if (size > 14 || tokenizer_kind(at[size]) & (BEYOND | JOINS) ||
	    (tokenizer_kind(at[size]) & (IN_LETTERS | IN_DIGITS) && tokenizer_kind(at[size + 1]) & (WORD | BEYOND)))
		return 0;
	bytes |= letters & 0x20;
	memcpy(word, &bytes, sizeof(bytes));
	return size;
}

/* Returns where the piece ends that has the byte at `at`. */
static const char *
tokenizer_piece_end(const char *at, const char *end)
{
	while (at < end && !(tokenizer_kind(*at) & SPACE))
		at++;
	return at;
}

/* Takes the next word of a piece that has characters beyond ASCII. Returns its length; 0: the piece has no more; or an
 * error. */
static long
tokenizer_next_of_piece(struct tokenizer *tokenizer)
{
	while (tokenizer->at < tokenizer->piece_end) {
		const char *from = tokenizer->at, *end = from + 1;
		long length;

		while (end < tokenizer->piece_end && !tokenizer->pieces.breaks[end - tokenizer->piece])
			end++;
		tokenizer->at = end;
		length = tokenizer_unicode_word(from, (size_t)(end - from), tokenizer->word);
		if (length != 0)
			return length;
	}
	tokenizer->piece = NULL;
	return 0;
}

/* Hands the rest of the piece to libunistring. No word has begun before it. */
static int
tokenizer_begin_piece(struct tokenizer *tokenizer)
{
	const char *at = tokenizer->at;

	tokenizer->piece = at;
	tokenizer->piece_end = tokenizer_piece_end(at, tokenizer->end);
	return tokenizer_unicode_breaks(&tokenizer->pieces, at, (size_t)(tokenizer->piece_end - at));
}

/* Takes the next word into tokenizer->word. Returns its length; 0: the text has no more; or an error. */
static long
tokenizer_next_word(struct tokenizer *tokenizer)
{
	const char *end = tokenizer->end;
	long length = 0;

	while (length == 0) {
		const char *at = tokenizer->at, *behind = NULL;

		if (tokenizer->piece) {
			length = tokenizer_next_of_piece(tokenizer);
			continue;
		}
		while (at < end && !(tokenizer_kind(*at) & (WORD | BEYOND)))
			at++;
		tokenizer->at = at;
		if (at == end)
			return 0;
		if (tokenizer_kind(*at) & WORD) {
			length = (long)tokenizer_take_short(at, end, tokenizer->word);
			behind = length ? at + length : tokenizer_take_ascii(at, end, tokenizer->word, &length);
		}
		if (behind)
			tokenizer->at = behind;
		else
			length = tokenizer_begin_piece(tokenizer);
	}
	return length;
}

/* Counts the characters of a word: the bytes with which one begins. */
static size_t
tokenizer_count_characters(const char *word, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)word[i] & 0xc0) != 0x80;
	return count;
}

/* Takes the next word that is long enough and no stop word. Returns what tokenizer_next_word() returns. */
static long
tokenizer_next_kept(struct tokenizer *tokenizer)
{
	const struct token_rules *rules = &tokenizer->rules;
	long length;

	while ((length = rules->given ? tokenizer_given_word(&tokenizer->at, tokenizer->end, &tokenizer->is_inside,
	                                                     tokenizer->word)
	                              : tokenizer_next_word(tokenizer)) > 0) {
		if (rules->min_length > 1 &&
		    tokenizer_count_characters(tokenizer->word, (size_t)length) < rules->min_length)
			continue;
		if (!rules->stop_words || names_find(rules->stop_words, tokenizer->word, (size_t)length) == NAMES_NONE)
			break;
	}
	return length;
}

/* Appends the word to the history, the last words, of which n-grams are made. The oldest word leaves it when no n-gram
 * can reach it any more. */
static void
tokenizer_remember(struct tokenizer *tokenizer, size_t length)
{
	if (tokenizer->words == tokenizer->rules.ngrams) {
		size_t gone = tokenizer->words > 1 ? tokenizer->starts[1] : tokenizer->history_length;

		memmove(tokenizer->history, tokenizer->history + gone, tokenizer->history_length - gone);
		tokenizer->history_length -= gone;
		for (unsigned w = 1; w < tokenizer->words; w++)
			tokenizer->starts[w - 1] = tokenizer->starts[w] - gone;
		tokenizer->words--;
	}
	if (tokenizer->words > 0)
		tokenizer->history[tokenizer->history_length++] = ' ';
	else
		tokenizer->history_length = 0;
	tokenizer->starts[tokenizer->words++] = tokenizer->history_length;
	memcpy(tokenizer->history + tokenizer->history_length, tokenizer->word, length);
	tokenizer->history_length += length;
	tokenizer->pending = tokenizer->words;
}

/* Takes the shortest n-gram that ends with the last word and has not been returned by tokenizer_next() yet. */
static void
tokenizer_take_gram(struct tokenizer *tokenizer, struct token *token)
{
	size_t start = tokenizer->starts[--tokenizer->pending], length = tokenizer->history_length - start;

	memcpy(tokenizer->gram, tokenizer->prefix, tokenizer->prefix_length);
	memcpy(tokenizer->gram + tokenizer->prefix_length, tokenizer->history + start, length);
	token->text = tokenizer->gram;
	token->length = tokenizer->prefix_length + length;
}

int
tokenizer_next(struct tokenizer *tokenizer, struct token *token)
{
	long length;

	if (tokenizer->pending == 0) {
		length = tokenizer_next_kept(tokenizer);
		if (length <= 0)
			return (int)length;
		if (tokenizer->rules.ngrams == 1 && tokenizer->prefix_length == 0) {
			token->text = tokenizer->word;
			token->length = (size_t)length;
			return 1;
		}
		tokenizer_remember(tokenizer, (size_t)length);
	}
	tokenizer_take_gram(tokenizer, token);
	return 1;
}

/* Adds a token to the list, which has room for it. */
static void
tokenizer_add_to_list(const struct token *token, struct token_list *list)
{
	uint64_t key = names_key_padded(token->text, token->length);

	memcpy(list->text + list->used, token->text, TOKEN_READABLE);
	if (token->length > TOKEN_READABLE)
		memcpy(list->text + list->used, token->text, token->length);
	list->tokens[list->count++] = (struct listed_token){key, (uint32_t)list->used, (uint32_t)token->length};
	list->used += token->length > TOKEN_READABLE ? token->length : TOKEN_READABLE;
}

int
tokenizer_list(struct tokenizer *tokenizer, struct token_list *list)
{
	const struct token_rules *rules = &tokenizer->rules;
	bool are_words = rules->ngrams == 1 && tokenizer->prefix_length == 0 && !rules->given;

	while (list->count < TOKEN_LIST_MOST && list->used + TOKEN_TEXT_MAX <= sizeof(list->text)) {
		struct token token;
		int code;

		if (are_words && !tokenizer->piece) {
			tokenizer->at = tokenizer_take_plain(tokenizer->at, tokenizer->end, rules->min_length,
			                                     rules->stop_words, list);
			if (list->count == TOKEN_LIST_MOST)
				break;
		}
		code = tokenizer_next(tokenizer, &token);
		if (code <= 0)
			return code;
		tokenizer_add_to_list(&token, list);
	}
	return 1;
}
