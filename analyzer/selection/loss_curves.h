/*
 * loss_curves.h: for the S2L rule of `portolan select` (trajectories.h): reads the losses of examples, −ln p(gold), epoch
 * by epoch, a batch of examples at a time, so that no more than a batch is in memory.
 */
#ifndef LOSS_CURVES_H
#define LOSS_CURVES_H

#include "measures/dynamics.h"

#define LOSS_CURVES_BATCH 1024u     /* examples of a batch, at most */
#define LOSS_CURVES_NONE UINT32_MAX /* the place of an example that is not asked for */

struct loss_curves {
	/* of the batch that was read last: the losses of its examples, one example after another, and the places */
	float *losses;
	uint32_t places[LOSS_CURVES_BATCH];
	/* private */
	const struct dynamics *dynamics;
	const uint32_t *place_of;
	struct store_cursor *cursor;
	struct store_block block;
	size_t next_block, next_word;
};

/* Places for all examples of the run, by dense index: a place is the caller's own number of an example. Each is
 * LOSS_CURVES_NONE. To be released with array_free(). */
uint32_t *loss_curves_no_places(const struct dynamics *dynamics);

/* Begins to read the examples that have a place in place_of[], which must stay as it is. At an epoch without an
 * observation, the loss is that of the epoch before, or, at the beginning, after. A probability of 0 counts as the
 * smallest normal float32. One thread. */
void loss_curves_open(struct loss_curves *curves, const struct dynamics *dynamics, const uint32_t *place_of);

/* Reads the next batch, by ascending dense index; returns how many examples it has, 0 at the end. What cannot be read
 * ends the program. */
size_t loss_curves_next(struct loss_curves *curves);

void loss_curves_close(struct loss_curves *curves);

#endif
