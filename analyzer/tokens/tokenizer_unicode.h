/* tokenizer_unicode.h: cuts a text of any script into words, as libunistring finds them, for tokenizer.c, which itself
 * knows ASCII alone. */
#ifndef TOKENIZER_UNICODE_H
#define TOKENIZER_UNICODE_H

#include <stddef.h>

#define TOKEN_MAX 256u /* bytes of the longest word */

enum {
	TOKENIZER_NOT_UTF8 = -1,
	TOKENIZER_MEMORY = -2,
	/* of rules.given: the text is no JSON list of strings; a string in it is none that can be read */
	TOKENIZER_NO_LIST = -3,
	TOKENIZER_NO_TEXT = -4,
};

struct tokenizer_pieces { /* begins as {0} */
	char *breaks;     /* for each byte of a piece: may a word end before it? The owner's to free() */
	size_t room;
};

/* Finds where libunistring cuts the piece: fills pieces->breaks. Returns 0, TOKENIZER_NOT_UTF8 or TOKENIZER_MEMORY. */
int tokenizer_unicode_breaks(struct tokenizer_pieces *pieces, const char *piece, size_t length);

/* Makes a word of the text between two breaks: lower-cased, composed, with ' for ’. Returns the word's length, at most
 * TOKEN_MAX; 0 if the text is no word, or too long; or TOKENIZER_MEMORY. */
long tokenizer_unicode_word(const char *from, size_t length, char *word);

#endif
