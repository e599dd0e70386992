/* tokenizer_given.h: takes the words that a user's own tokenizer has made, for tokenizer.c: a JSON list of strings, as
 * ["play", "##ing"]. They are words as they are: no case is changed, and punctuation stays. */
#ifndef TOKENIZER_GIVEN_H
#define TOKENIZER_GIVEN_H

#include <stdbool.h>

/* Takes the next string of the list into `word`, which has room for TOKEN_MAX bytes. *at is where the list begins, and
 * *is_inside is false then; afterwards both are as the call before left them. Returns the word's length; 0: the list has
 * no more; TOKENIZER_NO_LIST or TOKENIZER_NO_TEXT. Empty strings, and those of more than TOKEN_MAX bytes, are left out. */
long tokenizer_given_word(const char **at, const char *end, bool *is_inside, char *word);

#endif
