/* suggest.h: finds, among the names that a command knows, the one that a user probably meant by a mistyped word: for
 * error messages that ask "did you mean …?". Pure. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

/* The number of edits (insert, remove, change, swap two neighbours) that turn `a` into `b`; SIZE_MAX for names over 63
 * bytes. */
size_t suggest_distance(const char *a, const char *b);

/* The one of `names` that is nearest to `word`. It must differ in at most a third of its letters (one letter may always
 * differ), or begin with `word`. NULL: none is near. */
const char *suggest_nearest(const char *word, const char *const *names, size_t count);

#endif
