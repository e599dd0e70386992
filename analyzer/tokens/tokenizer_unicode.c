/* tokenizer_unicode.c: cuts and folds words that are not ASCII. Rules and tables are libunistring's: its Unicode is what counts. */
#include "tokenizer_unicode.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

#define LONGEST (8 * TOKEN_MAX) /* nothing longer becomes a word of TOKEN_MAX */
#define ZERO_WIDTH_NON_JOINER 0x200c
#define ZERO_WIDTH_JOINER 0x200d
#define APOSTROPHE "\xe2\x80\x99"

int
tokenizer_unicode_breaks(struct tokenizer_pieces *pieces, const char *piece, size_t length)
{
	if (u8_check((const uint8_t *)piece, length))
		return TOKENIZER_NOT_UTF8;
	if (length > pieces->room) {
		free(pieces->breaks);
		pieces->room = 2 * length;
		pieces->breaks = malloc(pieces->room);
		if (!pieces->breaks) {
			pieces->room = 0;
			return TOKENIZER_MEMORY;
		}
	}
	u8_wordbreaks((const uint8_t *)piece, length, pieces->breaks);
	return 0;
}

static bool
has_letter(const uint8_t *at, size_t length)
{
	const uint8_t *end = at + length;

	while (at < end) {
		ucs4_t character;

		at += u8_mbtouc(&character, at, (size_t)(end - at));
		if (uc_is_general_category_withtable(character, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N))
			return true;
	}
	return false;
}

/* Without what is not to be seen (soft hyphens, marks of direction, variation selectors …): the word is the same. The
 * two that shape a script's letters stay. */
static size_t
leave_out_ignorable(const char *from, size_t length, uint8_t *to)
{
	const uint8_t *at = (const uint8_t *)from, *end = at + length;
	size_t used = 0;

	while (at < end) {
		ucs4_t character;
		size_t size = (size_t)u8_mbtouc(&character, at, (size_t)(end - at));

		if (character == ZERO_WIDTH_NON_JOINER || character == ZERO_WIDTH_JOINER ||
		    !uc_is_property_default_ignorable_code_point(character)) {
			memcpy(to + used, at, size);
			used += size;
		}
		at += size;
	}
	return used;
}

/* In place; shorter than before. */
static size_t
plain_apostrophes(char *word, size_t length)
{
	char *at = word, *end = word + length;

	while ((at = memmem(at, (size_t)(end - at), APOSTROPHE, strlen(APOSTROPHE)))) {
		*at++ = '\'';
		memmove(at, at + 2, (size_t)(end - at) - 2);
		end -= 2;
	}
	return (size_t)(end - word);
}

long
tokenizer_unicode_word(const char *from, size_t length, char *word)
{
	uint8_t room[LONGEST], seen[LONGEST];
	size_t size = sizeof(room);
	uint8_t *lower;
	long result = 0;

	if (length > LONGEST)
		return 0;
	length = leave_out_ignorable(from, length, seen);
	if (!has_letter(seen, length))
		return 0;
	lower = u8_tolower(seen, length, "", UNINORM_NFC, room, &size);
	if (!lower)
		return TOKENIZER_MEMORY;
	size = plain_apostrophes((char *)lower, size);
	if (size <= TOKEN_MAX) {
		memcpy(word, lower, size);
		result = (long)size;
	}
	if (lower != room)
		free(lower);
	return result;
}
