/* stop_words.h: English words that say little about a text: articles, pronouns, prepositions, conjunctions, forms of
 * be, have and do. Words of negation and quantity (not, no, never, all) are none: they are what gives labels away. */
#ifndef STOP_WORDS_H
#define STOP_WORDS_H

extern const char *const stop_words_english[]; /* ends with NULL */

#endif
