/* stories.h: reads the stories of some examples: the probability of the gold label, and whether the prediction was
 * correct, in each epoch. For the live page, for the document that portolan map makes of it, and for portolan show. */
#ifndef STORIES_H
#define STORIES_H

#include "open_stores.h"
#include "view.h"

struct stories {
	size_t epochs;          /* how many epochs the view has */
	float *gold_prob;       /* [example][epoch]; NaN: not observed; of a run of losses the loss */
	unsigned char *correct; /* [example][epoch]; 1: the prediction was correct; of a run of losses 0 */
};

/* Makes n stories in which nothing is observed yet. PORTOLAN_E_MEMORY: call stories_free() then, too. */
int stories_new(struct stories *stories, size_t n, size_t epochs, struct portolan_error *error);

/* Is the row's bit set? words = NULL: false. */
static inline bool
stories_bit(const uint64_t *words, uint32_t row)
{
	return words && (words[row / 64] >> row % 64 & 1);
}

/* Copies the observation in row `row` of a block, in the block's epoch `at`, to epoch e of story i. False: there is no
 * observation. */
bool stories_take(struct stories *stories, size_t i, size_t e, const struct store_block *block, size_t at,
                  uint32_t row);

/* Reads the stories of the n examples at these places of the view. Reads from a new snapshot: an observation that was
 * replaced since the view was loaded is read as it is now. The stories are the caller's to stories_free(). */
int stories_read(struct stories *stories, struct open_stores *stores, const struct view *view, const uint32_t *places,
                 size_t n, struct portolan_error *error);
int stories_read_from(struct stories *stories, struct store *store, const struct view *view, const uint32_t *places,
                      size_t n, struct portolan_error *error);
void stories_free(struct stories *stories); /* may be called twice */

#endif
