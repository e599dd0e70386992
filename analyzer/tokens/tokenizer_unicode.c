/* tokenizer_unicode.c: cuts and lower-cases words with characters beyond ASCII, for tokenizer.c. Rules and tables are
 * libunistring's, so the version of Unicode is that library's. */
#include "tokenizer_unicode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

#define LONGEST (8 * TOKEN_MAX) /* bytes: a longer text never becomes a word of at most TOKEN_MAX bytes */
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
unicode_has_letter(const uint8_t *at, size_t length)
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

/* Copies the text without the characters that are not seen (soft hyphens, marks of direction, variation selectors …).
 * The two that shape a script's letters, the joiner and the non-joiner, stay. Returns the length of the copy. */
static size_t
unicode_leave_out_unseen(const char *from, size_t length, uint8_t *to)
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

/* Replaces each ’ of the word, in place, by the shorter '. Returns the new length. */
static size_t
unicode_replace_apostrophes(char *word, size_t length)
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
	length = unicode_leave_out_unseen(from, length, seen);
	if (!unicode_has_letter(seen, length))
		return 0;
	lower = u8_tolower(seen, length, "", UNINORM_NFC, room, &size);
	if (!lower)
		return TOKENIZER_MEMORY;
	size = unicode_replace_apostrophes((char *)lower, size);
	if (size <= TOKEN_MAX) {
		memcpy(word, lower, size);
		result = (long)size;
	}
	if (lower != room)
		free(lower);
	return result;
}
