/* suggest.h: the name a user probably meant. Pure. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

/* Edits (insert, remove, change, swap two neighbours) that turn `a` into `b`; names over 63 bytes: SIZE_MAX. */
size_t suggest_distance(const char *a, const char *b);

/* The nearest of `names`: at most a third of its letters (but one at least) apart, or begun by all of `word`. NULL: none is near. */
const char *suggest_nearest(const char *word, const char *const *names, size_t count);

#endif
