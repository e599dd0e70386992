/*
 * merge_run.c: the winner rule where it is easy.
 *
 * Who measures in a pass of its own, or reads the data in order, logs ids one after the other; then whole stretches of
 * a batch belong to consecutive rows of one chunk, and mostly none of them has an observation yet. Copying such a
 * stretch is several times faster than merging its rows. What is not as easy is left to merge.c; both give the same
 * result.
 */
#include "bits.h"
#include "merge.h"

static void
fill(uint32_t *values, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		values[i] = value;
}

int
store_merge_run(const struct batch *batch, uint64_t wanted, struct merge_chunk *chunk,
                const struct merge_stretch *stretch)
{
	uint64_t columns = batch->columns & wanted & ~STORE_COLUMN_BIT(STORE_GOLD);
	uint32_t at = stretch->at, end = at + stretch->count;

	if (!bits_all_are(chunk->present[STORE_GOLD_PROB], at, end, false))
		return MERGE_NOT_EASY;
	for (uint64_t lacking = columns & ~chunk->columns; lacking; lacking &= lacking - 1)
		if (store_merge_column(chunk, mask_first(lacking)) < 0)
			return STORE_E_MEMORY;
	bits_set_all(chunk->present[STORE_GOLD_PROB], at, end);
	fill((uint32_t *)chunk->values[STORE_SESSION] + at, stretch->count, batch->session);
	chunk->rows = end > chunk->rows ? end : chunk->rows;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			bits_copy(chunk->values[column], at, batch->data[column], stretch->row, stretch->count);
		else
			memcpy((uint32_t *)chunk->values[column] + at, batch->data[column] + 4 * (size_t)stretch->row,
			       4 * (size_t)stretch->count);
		if (!column_is_implied(column))
			bits_set_all(chunk->present[column], at, end);
	}
	return 0;
}

/* Whether the labels are those known already, from the same session. */
static bool
nothing_new(const struct batch *batch, const struct merge_chunk *chunk, const struct merge_stretch *stretch)
{
	const uint32_t *known = (const uint32_t *)chunk->values[STORE_GOLD] + stretch->at;
	const uint32_t *session = (const uint32_t *)chunk->values[STORE_SESSION] + stretch->at;
	const uint8_t *gold = batch->data[STORE_GOLD] + 4 * (size_t)stretch->row;
	uint32_t other = 0;

	for (uint32_t i = 0; i < stretch->count; i++)
		other |= (session[i] ^ batch->session) | (known[i] ^ load_u32(gold + 4 * (size_t)i));
	return other == 0;
}

int
store_merge_examples_run(const struct batch *batch, struct merge_chunk *chunk, const struct merge_stretch *stretch)
{
	uint32_t at = stretch->at, end = at + stretch->count;
	bool labels = batch->data[STORE_GOLD] != NULL;

	if (bits_all_are(chunk->present[STORE_GOLD_PROB], at, end, true)) {
		if (!labels)
			return 0;
		return chunk->columns & STORE_COLUMN_BIT(STORE_GOLD) &&
		                       bits_all_are(chunk->present[STORE_GOLD], at, end, true) &&
		                       nothing_new(batch, chunk, stretch)
		               ? 0
		               : MERGE_NOT_EASY;
	}
	if (!bits_all_are(chunk->present[STORE_GOLD_PROB], at, end, false))
		return MERGE_NOT_EASY;
	if (labels && store_merge_column(chunk, STORE_GOLD) < 0)
		return STORE_E_MEMORY;
	bits_set_all(chunk->present[STORE_GOLD_PROB], at, end);
	fill((uint32_t *)chunk->values[STORE_SESSION] + at, stretch->count, batch->session);
	if (labels) {
		memcpy((uint32_t *)chunk->values[STORE_GOLD] + at, batch->data[STORE_GOLD] + 4 * (size_t)stretch->row,
		       4 * (size_t)stretch->count);
		bits_set_all(chunk->present[STORE_GOLD], at, end);
	}
	chunk->rows = end > chunk->rows ? end : chunk->rows;
	chunk->changed = true;
	chunk->seen += stretch->count;
	return 0;
}
