/*
 * merge_run.c: the winner rule where it is easy.
 *
 * Who measures in a pass of its own, or reads the data in order, logs ids one after the other; then whole stretches of
 * a batch belong to consecutive rows of one chunk, and mostly none of them has an observation yet. Copying such a
 * stretch is several times faster than merging its rows. What is not as easy is left to merge.c; both give the same
 * result.
 */
#include "merge.h"

/* Whether of the rows at … end − 1 none (`wanted` false), or all, have their bit set. */
static bool
all_are(const uint64_t *words, uint32_t at, uint32_t end, bool wanted)
{
	uint64_t other = 0;

	for (; at < end; at = (at | 63) + 1)
		other |= (wanted ? ~words[at / 64] : words[at / 64]) & bit_mask(at, end);
	return other == 0;
}

static void
set_all(uint64_t *words, uint32_t at, uint32_t end)
{
	for (; at < end; at = (at | 63) + 1)
		words[at / 64] |= bit_mask(at, end);
}

static void
fill(uint32_t *values, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		values[i] = value;
}

/* Bits row … row + n − 1 of `from`, to places at … of `to`, which are 0. */
static void
copy_bits(uint64_t *to, uint32_t at, const uint8_t *from, uint32_t row, uint32_t n)
{
	uint32_t done = 0;

	while (done < n && ((row + done) % 8 != 0 || (at + done) % 8 != 0) && done < 64) {
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
		done++;
	}
	if ((row + done) % 8 == 0 && (at + done) % 8 == 0) { /* the same place within a byte: whole bytes */
		memcpy((uint8_t *)to + (at + done) / 8, from + (row + done) / 8, (n - done) / 8);
		done += (n - done) / 8 * 8;
	}
	for (; done < n; done++)
		to[(at + done) / 64] |= (uint64_t)(from[(row + done) / 8] >> ((row + done) % 8) & 1)
		                        << ((at + done) % 64);
}

int
store_merge_run(const struct batch *batch, uint64_t wanted, struct merge_chunk *chunk,
                const struct merge_stretch *stretch)
{
	uint64_t columns = batch->columns & wanted & ~STORE_COLUMN_BIT(STORE_GOLD);
	uint32_t at = stretch->at, end = at + stretch->count;

	if (!all_are(chunk->present[STORE_GOLD_PROB], at, end, false))
		return MERGE_NOT_EASY;
	for (uint64_t lacking = columns & ~chunk->columns; lacking; lacking &= lacking - 1)
		if (store_merge_column(chunk, mask_first(lacking)) < 0)
			return STORE_E_MEMORY;
	set_all(chunk->present[STORE_GOLD_PROB], at, end);
	fill((uint32_t *)chunk->values[STORE_SESSION] + at, stretch->count, batch->session);
	chunk->rows = end > chunk->rows ? end : chunk->rows;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			copy_bits(chunk->values[column], at, batch->data[column], stretch->row, stretch->count);
		else
			memcpy((uint32_t *)chunk->values[column] + at, batch->data[column] + 4 * (size_t)stretch->row,
			       4 * (size_t)stretch->count);
		if (!column_is_implied(column))
			set_all(chunk->present[column], at, end);
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
store_merge_examples_run(const struct batch *batch, struct merge_chunk *chunk, const struct merge_stretch *stretch,
                         uint64_t *seen)
{
	uint32_t at = stretch->at, end = at + stretch->count;
	bool labels = batch->data[STORE_GOLD] != NULL;

	if (all_are(chunk->present[STORE_GOLD_PROB], at, end, true)) {
		if (!labels)
			return 0;
		return chunk->columns & STORE_COLUMN_BIT(STORE_GOLD) &&
		                       all_are(chunk->present[STORE_GOLD], at, end, true) &&
		                       nothing_new(batch, chunk, stretch)
		               ? 0
		               : MERGE_NOT_EASY;
	}
	if (!all_are(chunk->present[STORE_GOLD_PROB], at, end, false))
		return MERGE_NOT_EASY;
	if (labels && store_merge_column(chunk, STORE_GOLD) < 0)
		return STORE_E_MEMORY;
	set_all(chunk->present[STORE_GOLD_PROB], at, end);
	fill((uint32_t *)chunk->values[STORE_SESSION] + at, stretch->count, batch->session);
	if (labels) {
		memcpy((uint32_t *)chunk->values[STORE_GOLD] + at, batch->data[STORE_GOLD] + 4 * (size_t)stretch->row,
		       4 * (size_t)stretch->count);
		set_all(chunk->present[STORE_GOLD], at, end);
	}
	chunk->rows = end > chunk->rows ? end : chunk->rows;
	chunk->changed = true;
	*seen += stretch->count;
	return 0;
}
