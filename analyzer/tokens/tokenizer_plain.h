/* tokenizer_plain.h: takes many words of a text at once where they are plain, as nearly all words of English are: up to
 * PLAIN_MOST letters and digits of ASCII, behind which nothing stands that could join them to what follows. */
#ifndef TOKENIZER_PLAIN_H
#define TOKENIZER_PLAIN_H

#include "token_list.h"

#include <stdbool.h>

#define PLAIN_MOST 16u /* bytes of a plain word */

/* Adds to the list the plain words with which the text begins, lower-cased, until one is not plain, the text ends, or
 * the list, which must have room for the texts of plain words, is full. Left out are words of fewer than `least` bytes,
 * and those in `stop_words`, which may be NULL. Returns where the rest of the text begins: it is `at` only where no word
 * was taken or left out. */
const char *tokenizer_take_plain(const char *at, const char *end, size_t least, const struct names *stop_words,
                                 struct token_list *list);

#endif
