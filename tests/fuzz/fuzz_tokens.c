/*
 * fuzz_tokens: a text, as tokens; piece by piece they must be what libunistring alone makes of it, which is asked for
 * every piece, those of ASCII included. Then with n-grams, stop words and a prefix: tokens are UTF-8, not empty and no
 * longer than said, and tokenizer_list() finds the same. And the same with the text taken for a list of tokens
 * (tokenizer_given.h), which it may not be.
 *
 * Byte 0: the rules; the rest is the text.
 */
#include "fuzz.h"

#include <tokens/tokenizer.h>
#include <tokens/tokenizer_unicode.h>

#include <unistr.h>

static bool
is_space(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f;
}

/* The next token of the tokenizer must be this one. */
static void
expect(struct tokenizer *tokenizer, const char *word, size_t length)
{
	struct token token;

	require(tokenizer_next(tokenizer, &token) == 1);
	require(token.length == length && memcmp(token.text, word, length) == 0);
}

/* Goes through a piece by the library; false: it is not UTF-8. */
static bool
compare_piece(struct tokenizer *tokenizer, struct tokenizer_pieces *pieces, const char *piece, size_t size)
{
	char word[TOKEN_MAX];
	size_t from = 0;

	if (tokenizer_unicode_breaks(pieces, piece, size) < 0)
		return false;
	for (size_t to = 1; to <= size; to++) {
		long length;

		if (to < size && !pieces->breaks[to])
			continue;
		length = tokenizer_unicode_word(piece + from, to - from, word);
		require(length >= 0 && length <= (long)TOKEN_MAX);
		if (length > 0)
			expect(tokenizer, word, (size_t)length);
		from = to;
	}
	return true;
}

static void
compare(const char *text, size_t size)
{
	static const struct token_rules rules = {.min_length = 1, .ngrams = 1};
	struct tokenizer_pieces pieces = {0};
	struct tokenizer tokenizer;
	struct token token;
	bool valid = true;

	tokenizer_init(&tokenizer, &rules);
	tokenizer_begin(&tokenizer, text, size, "");
	for (size_t at = 0, end; at < size && valid; at = end + 1) {
		for (end = at; end < size && !is_space(text[end]);)
			end++;
		if (end > at)
			valid = compare_piece(&tokenizer, &pieces, text + at, end - at);
	}
	if (valid)
		require(tokenizer_next(&tokenizer, &token) == 0);
	free(pieces.breaks);
	tokenizer_free(&tokenizer);
}

/* A tokenizer that takes list by list, and the token that comes next in its list. */
struct listing {
	struct tokenizer tokenizer;
	struct token_list list;
	size_t next;
	int code; /* of the list */
};

static void
listing_begin(struct listing *listing, const struct token_rules *rules, const char *text, size_t size,
              const char *prefix)
{
	tokenizer_init(&listing->tokenizer, rules);
	tokenizer_begin(&listing->tokenizer, text, size, prefix);
	listing->code = 1;
	listing->next = 0;
	token_list_clear(&listing->list);
}

/* The next token of the lists must be this one; or, if `code` is not 1, they must end with this code. */
static void
listing_expect(struct listing *listing, int code, const struct token *token)
{
	const struct token_list *list = &listing->list;
	const struct listed_token *listed = &list->tokens[listing->next];

	if (listing->next == list->count && listing->code > 0) {
		token_list_clear(&listing->list);
		listing->next = 0;
		listing->code = tokenizer_list(&listing->tokenizer, &listing->list);
		listed = list->tokens;
	}
	if (code <= 0) {
		require(listing->next == list->count && listing->code == code);
		return;
	}
	require(listing->next++ < list->count);
	require(listed->length == token->length);
	require(memcmp(token_list_text(list, listed), token->text, token->length) == 0);
	require(listed->key == names_key(token->text, token->length));
}

static void
take_all(unsigned variant, bool given, const char *text, size_t size)
{
	struct names stop_words = {0};
	struct token_rules rules = {
	        .min_length = 1 + variant / 8 % 4, .ngrams = 1 + variant % NGRAMS_MAX, .given = given};
	size_t most = rules.ngrams * (TOKEN_MAX + 1) + 2;
	struct tokenizer tokenizer;
	const char *prefix = variant & 32 ? "t:" : "";
	struct listing listing;
	struct token token;
	int code;

	require(names_add(&stop_words, "a", 1) == 0);
	rules.stop_words = variant & 64 ? &stop_words : NULL;
	tokenizer_init(&tokenizer, &rules);
	tokenizer_begin(&tokenizer, text, size, prefix);
	listing_begin(&listing, &rules, text, size, prefix);
	while ((code = tokenizer_next(&tokenizer, &token)) > 0) {
		require(token.length > 0 && token.length <= most);
		require(!u8_check((const uint8_t *)token.text, token.length));
		listing_expect(&listing, code, &token);
	}
	listing_expect(&listing, code, NULL);
	require(code == 0 ||
	        (given ? code == TOKENIZER_NO_LIST || code == TOKENIZER_NO_TEXT : code == TOKENIZER_NOT_UTF8));
	require(code == 0 || given || u8_check((const uint8_t *)text, size));
	tokenizer_free(&tokenizer);
	tokenizer_free(&listing.tokenizer);
	names_free(&stop_words);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	unsigned variant = input_u8(&input);
	size_t length = input.size;
	char *text = input_text(&input, length);

	compare(text, length);
	take_all(variant, false, text, length);
	take_all(variant, true, text, length);
	free(text);
	return 0;
}
