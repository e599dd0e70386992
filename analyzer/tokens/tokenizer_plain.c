/*
 * tokenizer_plain.c: takes many plain words of a text at once, for tokenizer.c, which takes all other words
 * (tokenizer_plain.h).
 *
 * 64 bytes are looked at in one go: a bit for each says whether it is a letter or a digit, another whether it is _ or
 * beyond ASCII. A run of bits of the first kind is a word. It is left to tokenizer.c if it touches a bit of the second
 * kind, if it is long, or if a character other than a space joins or parts it from a word that follows at once, as in
 * "don't", "3.14" and "well-known". At the end of the text the rest of it is copied, so that no byte behind it is read.
 */
#include "tokenizer_plain.h"

#include <portolan/bytes.h>

#define BLOCK 64u                       /* bytes looked at in one go */
#define BLOCK_READ (BLOCK + PLAIN_MOST) /* bytes that may be read */

/* Finds which of the 64 bytes are letters and digits, and which are _ or beyond ASCII. */
static inline void
plain_find(const char *at, uint64_t *words, uint64_t *others)
{
	*words = *others = 0;
	for (unsigned i = 0; i < BLOCK; i += sizeof(bytes_16)) {
		bytes_16 bytes = bytes_read(at + i), lower = bytes | 0x20;
		bytes_16 is_word = ((lower >= 'a') & (lower <= 'z')) | ((bytes >= '0') & (bytes <= '9'));

		*words |= (uint64_t)bytes_bits(is_word) << i;
		*others |= (uint64_t)bytes_bits((bytes == '_') | bytes) << i;
	}
}

static inline uint64_t
plain_read(const char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return le64toh(bytes);
}

static inline void
plain_write(char *at, uint64_t bytes)
{
	bytes = htole64(bytes);
	memcpy(at, &bytes, sizeof(bytes));
}

/* The first `length` (1 to 8) of eight letters and digits, lower-cased: of these bytes a letter alone has bit 0x40. */
static inline uint64_t
plain_lower(uint64_t bytes, size_t length)
{
	bytes &= UINT64_MAX >> (64 - 8 * length);
	return bytes | (bytes & UINT64_C(0x4040404040404040)) >> 1;
}

/* Writes the word, lower-cased, where there is room for PLAIN_MOST bytes. Returns its key. */
static inline uint64_t
plain_copy(char *text, const char *word, size_t length)
{
	if (length <= NAMES_SHORT) {
		uint64_t key = plain_lower(plain_read(word), length);

		plain_write(text, key);
		return key;
	}
	plain_write(text, plain_lower(plain_read(word), NAMES_SHORT));
	plain_write(text + NAMES_SHORT, plain_lower(plain_read(word + NAMES_SHORT), length - NAMES_SHORT));
	return names_key(text, length);
}

/* Takes the plain words of a block, from which BLOCK_READ bytes can be read. Returns how many bytes are done with. */
static size_t
plain_take_block(const char *at, size_t least, const struct names *stop_words, struct token_list *list)
{
	size_t end = BLOCK, count = list->count, used = list->used;
	uint64_t words, others;

	plain_find(at, &words, &others);
	if (others) {
		end = (size_t)__builtin_ctzll(others);
		words &= (UINT64_C(1) << end) - 1;
	}
	while (words && count < TOKEN_LIST_MOST) {
		size_t from = (size_t)__builtin_ctzll(words), to, length;
		uint64_t carried = words + (words & -words); /* the lowest run is carried to the bit behind it */

		to = carried ? (size_t)__builtin_ctzll(carried) : BLOCK;
		length = to - from;
		if (to >= end || length > PLAIN_MOST)
			break;
		if (at[to] != ' ' && (to + 1 == BLOCK || ((words | others) >> (to + 1) & 1)))
			break;
		words &= carried;
		if (length < least)
			continue;
		list->tokens[count] = (struct listed_token){plain_copy(list->text + used, at + from, length),
		                                            (uint32_t)used, (uint32_t)length};
		if (stop_words && names_find(stop_words, list->text + used, length) != NAMES_NONE)
			continue;
		used += PLAIN_MOST;
		count++;
	}
	list->count = count;
	list->used = used;
	return words ? (size_t)__builtin_ctzll(words) : end;
}

const char *
tokenizer_take_plain(const char *at, const char *end, size_t least, const struct names *stop_words,
                     struct token_list *list)
{
	size_t taken = 1;

	while (at < end && taken > 0 && list->count < TOKEN_LIST_MOST) {
		size_t left = (size_t)(end - at);
		char rest[BLOCK_READ];

		if (left >= BLOCK_READ) {
			taken = plain_take_block(at, least, stop_words, list);
		} else {
			memset(rest, 0, sizeof(rest));
			memcpy(rest, at, left);
			taken = plain_take_block(rest, least, stop_words, list);
		}
		at += taken < left ? taken : left;
	}
	return at;
}
