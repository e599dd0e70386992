/*
 * merge.h: decides which of two observations of one example stays (the winner rule), while rows of the log are merged
 * into a chunk; private to the store. Snapshots, which merge the log over columns, and folds use these same functions,
 * and therefore agree.
 *
 * An image holds a chunk's columns unpacked. Its allocations stay with it until store_merge_free(), or are those that
 * the images of an epoch share.
 */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "batch.h"

/* What merges counted. `replaced`: observations that met another of the same example, whichever stayed. `returned`:
 * those of them that met one of their own session. `seen`: examples not seen before. `relabelled`: labels that differed
 * from the known one. */
struct merge_counts {
	uint64_t replaced, returned, seen, relabelled;
};

/* Arrays that the images of all chunks of an epoch share: of each column one, chunk after chunk. So an example's index
 * is its place in each of them. */
struct merge_shared {
	uint32_t chunks;
	uint64_t columns; /* of the epoch that it was made for */
	uint64_t *present[STORE_COLUMN_MAX];
	void *values[STORE_COLUMN_MAX];
};

struct merge_chunk {
	uint64_t columns;                    /* columns in use; `present` and `values` of other columns are not valid */
	uint64_t *present[STORE_COLUMN_MAX]; /* [STORE_GOLD_PROB]: the rows with an observation, whether or not
	                                        gold_prob is in use */
	void *values[STORE_COLUMN_MAX];      /* STORE_CHUNK elements, or (bits) STORE_CHUNK_WORDS words */
	uint32_t rows;                       /* all present rows are below it */
	uint32_t session;                    /* of all observations, while STORE_SESSION is not in use */
	bool stored;                         /* set by store_chunk_load(), like `merged` */
	uint64_t merged;                     /* the log's entries before this position are merged into it */
	struct merge_met *met;               /* numbers of observations that met another, by the session of the second,
	                                      * in order */
	uint32_t met_count, met_last;        /* index of the one that was counted last */
	struct merge_counts counts;          /* of the merges since the image was made empty */
	bool changed;                        /* set by store_merge_example() */
	struct merge_shared *shared;         /* NULL: the image has arrays of its own; else it lies in these, … */
	uint32_t number;                     /* … as the chunk of this number */
};

struct merge_met {
	uint32_t session, count;
};

/* Makes the image empty: no observation, no column. STORE_SESSION comes into use only with a second session.
 * STORE_E_MEMORY is its only failure. */
int store_merge_clear(struct merge_chunk *chunk);
/* As store_merge_clear(), but with STORE_SESSION in use. */
int store_merge_reset(struct merge_chunk *chunk);
/* Takes a column into use, with no row present; does nothing if it is in use. */
int store_merge_column(struct merge_chunk *chunk, unsigned column);
void store_merge_free(struct merge_chunk *chunk);
/* Has the image use the arrays in `shared`, as the chunk of that number; it must have no array of its
 * own. */
void store_merge_share(struct merge_chunk *chunk, struct merge_shared *shared, uint32_t number);
void store_merge_shared_free(struct merge_shared *shared);
size_t store_merge_shared_size(size_t bytes);                /* what an array of `bytes` takes there */
uint32_t store_merge_count(const struct merge_chunk *chunk); /* of its observations */
uint32_t store_merge_end(const struct merge_chunk *chunk);   /* the row after its last observation */
/* Adds the counts of an image to `counts`. */
void store_merge_add_counts(const struct merge_chunk *chunk, struct merge_counts *counts);

struct merge_row {
	struct merge_chunk *chunk;
	uint32_t at;  /* row of the chunk */
	uint32_t row; /* row of the batch */
};

/*
 * Merges rows of one batch, in order, into images of one epoch: an observation takes an empty place, or replaces the
 * one there as a whole, if its session's order is not lower (in the same session the batch came later). Only columns in
 * `wanted` are copied. The image counts observations that met another; `rows` is used as working space.
 */
int store_merge_rows(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row *rows,
                     size_t count);

/* As store_merge_rows(), for the rows of the batch from first.row on, whose places in one chunk are first.at and those
 * after it. */
int store_merge_stretch(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row first,
                        uint32_t count);

/* Merges what one row says of its example for all epochs: that it was seen, and its gold label, if the batch has
 * labels; a later session wins here too. If the batch has no labels, this cannot fail. Inline, as it is called for
 * every row. */
static inline int
store_merge_example(const struct batch *batch, const uint32_t *order, struct merge_row row)
{
	struct merge_chunk *chunk = row.chunk;
	uint32_t at = row.at, *session = chunk->values[STORE_SESSION], *known, label;

	if (!bit_get(chunk->present[STORE_GOLD_PROB], at)) {
		bit_set(chunk->present[STORE_GOLD_PROB], at);
		session[at] = batch->session;
		chunk->rows = at >= chunk->rows ? at + 1 : chunk->rows;
		chunk->changed = true;
		chunk->counts.seen++;
	}
	if (!batch->data[STORE_GOLD])
		return 0;
	if (store_merge_column(chunk, STORE_GOLD) < 0)
		return STORE_E_MEMORY;
	known = (uint32_t *)chunk->values[STORE_GOLD] + at;
	label = load_u32(batch->data[STORE_GOLD] + 4 * (size_t)row.row);
	if (bit_get(chunk->present[STORE_GOLD], at)) {
		chunk->counts.relabelled += *known != label;
		if (order[session[at]] > order[batch->session] || (*known == label && session[at] == batch->session))
			return 0;
	}
	*known = label;
	session[at] = batch->session;
	bit_set(chunk->present[STORE_GOLD], at);
	chunk->changed = true;
	return 0;
}

#endif
