/* word_shares.h: finds, for the live page, the words that stand in more of a selection's texts than in the rest of the
 * user's texts. */
#ifndef WORD_SHARES_H
#define WORD_SHARES_H

#include "texts.h"
#include "views.h"

#define WORD_SHARES_TEXTS 100000 /* texts that are read at most: of more examples every second, third, … by id */

/*
 * {"texts": N, "inside": S, "words": [{"word", "n", "inside", "share", "expected", "z"}, …]}, by falling z: of n texts
 * with the word, `inside` are selected; z = (p̂ − p) / √(p (1 − p) / n), where p̂ = inside / n and p is the selection's
 * share of the texts read (token_statistics.h). Words in fewer than 5 texts are left out. `selected`: by place, 1 where
 * it is in the selection. PORTOLAN_E_MEMORY: the report cannot be used.
 */
int word_shares(struct report *report, const struct view *view, const struct texts *texts,
                const unsigned char *selected, size_t most, struct portolan_error *error);

#endif
