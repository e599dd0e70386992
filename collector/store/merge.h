/*
 * merge.h: the winner rule, applied; private to the store. The one place where observations meet: snapshots (log over
 * columns) and folds use the same functions and therefore agree.
 *
 * A chunk image holds a chunk's columns unpacked. Allocations stay with the image until merge_chunk_free().
 */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "batch.h"

struct merge_chunk {
	uint64_t columns;                    /* columns in use; of the others nothing is valid */
	uint64_t *present[STORE_COLUMN_MAX]; /* [STORE_GOLD_PROB]: where an observation is, whether or not gold_prob is
	                                        in use */
	void *values[STORE_COLUMN_MAX];      /* STORE_CHUNK elements, or (bits) STORE_CHUNK_WORDS words */
	uint32_t rows;                       /* every present row is below it */
	size_t bytes;                        /* allocated */
	bool changed;                        /* set by store_merge_example() */
};

/* Makes the image empty: no observation, no column but STORE_SESSION. STORE_E_MEMORY. */
int store_merge_reset(struct merge_chunk *chunk);
/* Takes a column into use, with no row present; nothing happens if it is. */
int store_merge_column(struct merge_chunk *chunk, unsigned column);
void store_merge_free(struct merge_chunk *chunk);

struct merge_row {
	struct merge_chunk *chunk;
	uint32_t at;  /* row of the chunk */
	uint32_t row; /* row of the batch */
};

/*
 * Merges rows of one batch, in order, into images of one epoch: an observation takes an empty place, or replaces the
 * one there if its session's order is not lower (same session: the batch came later), as a whole. Only columns in
 * `wanted` are copied. *replaced is increased by the number of observations that met another; `rows` is used as working
 * space.
 */
int store_merge_rows(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row *rows,
                     size_t count, uint64_t *replaced);

/*
 * Merges what is kept per example: that it was seen, and its gold label if the batch has one. Same order rule. *seen
 * is increased by examples not seen before, *changed by labels that differ from the one known.
 */
int store_merge_examples(const struct batch *batch, const uint32_t *order, const struct merge_row *rows, size_t count,
                         uint64_t *seen, uint64_t *changed);

/* A stretch of a batch whose indices follow one another within one chunk. */
struct merge_stretch {
	uint32_t at;  /* row of the chunk */
	uint32_t row; /* row of the batch */
	uint32_t count;
};

#define MERGE_NOT_EASY 1 /* nothing was done: merge row by row */

/* What store_merge_rows() and store_merge_examples() do, for a stretch of which the chunk has no observation yet (or,
 * of the second, nothing that would change). */
int store_merge_run(const struct batch *batch, uint64_t wanted, struct merge_chunk *chunk,
                    const struct merge_stretch *stretch);
int store_merge_examples_run(const struct batch *batch, struct merge_chunk *chunk, const struct merge_stretch *stretch,
                             uint64_t *seen);

#endif
