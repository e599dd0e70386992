/* tokenizer_unicode.h: words beyond ASCII; what of the tokenizer is libunistring's. */
#ifndef TOKENIZER_UNICODE_H
#define TOKENIZER_UNICODE_H

#include "tokenizer.h"

/* Fills pieces->breaks: whether a word may end before each byte of the piece. 0, or a TOKENIZER_… error. */
int tokenizer_unicode_breaks(struct tokenizer_pieces *pieces, const char *piece, size_t length);

/* What lies between two breaks, lower-cased, composed, with ' for ’: its length, at most TOKEN_MAX; 0: it is no word,
 * or too long; or an error. */
long tokenizer_unicode_word(const char *from, size_t length, char *word);

#endif
