/* word_shares.h: finds, for the live page, the words that stand in more of a selection's texts than in the rest of the
 * user's texts. */
#ifndef WORD_SHARES_H
#define WORD_SHARES_H

#include "files/texts.h"
#include "views.h"

#define WORD_SHARES_TEXTS 100000 /* most texts that are read: of more examples, every second, third, … by id */

/*
 * Writes {"texts": N, "inside": S, "words": [{"word", "n", "inside", "share", "expected", "z"}, …]}, with the words of
 * z > 0 by falling z, at most `most` of them. N texts were read, S of them of selected examples; of the n texts with a
 * word, `inside` are of selected examples. z tells how far the share p̂ = inside / n lies above the expected p = S / N,
 * in standard deviations: z = (p̂ − p) / √(p (1 − p) / n) (token_statistics.h). Words in fewer than 5 texts are left
 * out. `selected`: by place, 1 where the example is selected. PORTOLAN_E_MEMORY: the report cannot be used.
 */
int word_shares(struct report *report, const struct view *view, const struct texts *texts,
                const unsigned char *selected, size_t most, struct portolan_error *error);

#endif
