/*
 * fold_even.c: the quick way to merge a batch with scattered rows, as shuffled training sends them: when the chunks that
 * it touches are alike, and share their arrays, no chunk is looked at for a row. The example's index says where its
 * observation goes.
 *
 * Chunks are alike if they have the columns of the batch and no other, and the same sessions. The first batches of an
 * epoch make them so. A batch whose range has a chunk without rows so far, or that has fewer rows than its range has
 * chunks, is left to fold_log.c, which merges row by row, to the same outcome.
 */
#include "fold.h"

#include <portolan/widths.h>

#define AHEAD 32 /* places are asked for so many rows before they are written */

_Static_assert(STORE_CHUNK % 64 == 0, "an example's index is the place of its bit, too");

/* Are the chunks from `first` to `last` alike, and do they lack the entry at fold->position? */
static bool
even_are_alike(const struct store_fold *fold, const struct batch *batch, uint32_t first, uint32_t last)
{
	const uint64_t sessions = STORE_COLUMN_BIT(STORE_SESSION);
	const struct fold_chunk *chunk = fold->chunks[first];
	uint64_t columns = batch->columns & ~STORE_COLUMN_BIT(STORE_GOLD);

	if (chunk)
		columns |= chunk->epoch.columns & sessions;
	for (uint32_t number = first; number <= last; number++) {
		chunk = fold->chunks[number];
		if (!chunk || chunk->epoch.columns != columns || chunk->epoch.merged > fold->position ||
		    (!(columns & sessions) && chunk->epoch.session != batch->session))
			return false;
	}
	return true;
}

static uint32_t
even_index(const struct batch *batch, uint32_t row)
{
	return load_u32(batch->index + 4 * (size_t)row);
}

/* Whether the model was right in rows base … end − 1, at most 64; base is a multiple of 8. */
static uint64_t
even_bits(const struct batch *batch, uint32_t base, uint32_t end)
{
	uint64_t bits = 0;

	memcpy(&bits, batch->data[STORE_CORRECT] + base / 8, (end - base + 7) / 8);
	return bits;
}

/* Copies the columns that every observation has from the first rows to their places, as far as these are free, and marks
 * them as present. Returns how many rows these are. One pass: each place is looked up once. */
FOR_EACH_WIDTH static uint32_t
even_put_observations(const struct merge_shared *shared, const struct batch *batch)
{
	uint64_t *restrict present = shared->present[STORE_GOLD_PROB];
	uint64_t *restrict correct = shared->values[STORE_CORRECT];
	uint32_t *restrict gold_prob = shared->values[STORE_GOLD_PROB];
	const uint8_t *restrict index = batch->index;
	const uint8_t *restrict from_prob = batch->data[STORE_GOLD_PROB];
	const uint32_t rows = batch->rows;

	for (uint32_t base = 0; base < rows; base += 64) {
		const uint32_t end = rows - base < 64 ? rows : base + 64;
		uint64_t bits = even_bits(batch, base, end);

		for (uint32_t row = base; row < end; row++, bits >>= 1) {
			const uint32_t at = load_u32(index + 4 * (size_t)row);
			const uint32_t ahead = row + AHEAD < rows ? row + AHEAD : row;
			const uint64_t bit = UINT64_C(1) << (at % 64), word = present[at / 64];

			__builtin_prefetch(gold_prob + load_u32(index + 4 * (size_t)ahead), 1);
			if (word & bit)
				return row;
			present[at / 64] = word | bit;
			gold_prob[at] = load_u32(from_prob + 4 * (size_t)row);
			correct[at / 64] |= (bits & 1) << (at % 64); /* the place was free, so its bit is 0 */
		}
	}
	return rows;
}

/* Copies the first rows' values of a column that not every observation has. */
static void
even_put_column(const struct merge_shared *shared, const struct batch *batch, unsigned column, uint32_t rows)
{
	const uint8_t *data = batch->data[column];
	uint32_t *values = shared->values[column];
	uint64_t *words = shared->values[column];

	for (uint32_t row = 0; row < rows && !column_is_bits(column); row++)
		values[even_index(batch, row)] = load_u32(data + 4 * (size_t)row);
	for (uint32_t row = 0; row < rows && column_is_bits(column); row++) {
		const uint32_t index = even_index(batch, row);

		words[index / 64] |= (uint64_t)(data[row / 8] >> (row % 8) & 1) << (index % 64);
	}
	for (uint32_t row = 0; row < rows; row++)
		bit_set(shared->present[column], even_index(batch, row));
}

/* Merges the labels of the first rows into the values kept per example. */
static int
even_put_labels(const struct store_fold *fold, const struct batch *batch, uint32_t rows)
{
	int rc = 0;

	for (uint32_t row = 0; row < rows && batch->data[STORE_GOLD] && !rc; row++) {
		const uint32_t index = even_index(batch, row), number = index / STORE_CHUNK;

		rc = store_merge_example(batch, fold->order,
		                         (struct merge_row){.chunk = &fold->chunks[number]->examples,
		                                            .at = index - number * STORE_CHUNK,
		                                            .row = row});
	}
	return rc;
}

int
store_fold_even(const struct store_fold *fold, const struct batch *batch, uint32_t *rows)
{
	const struct merge_shared *shared = fold->shared;
	const uint32_t first = batch->lowest / STORE_CHUNK, last = batch->highest / STORE_CHUNK;
	const uint64_t of_all = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT);
	uint32_t *session;
	bool have_sessions;

	*rows = 0;
	/* With fewer rows than chunks, to ask each chunk would take longer than it saves. */
	if (batch->rows == 0 || batch->rows <= last - first || of_all & ~batch->columns ||
	    !even_are_alike(fold, batch, first, last))
		return 0;
	have_sessions = fold->chunks[first]->epoch.columns & STORE_COLUMN_BIT(STORE_SESSION);
	*rows = even_put_observations(shared, batch);
	for (uint32_t number = first; number <= last; number++)
		fold->chunks[number]->epoch.rows = store_chunk_rows(fold->rows_of_run, number);
	for (uint64_t mask = batch->columns & ~of_all & ~STORE_COLUMN_BIT(STORE_GOLD); mask; mask &= mask - 1)
		even_put_column(shared, batch, mask_first(mask), *rows);
	session = shared->values[STORE_SESSION];
	for (uint32_t row = 0; row < *rows && have_sessions; row++)
		session[even_index(batch, row)] = batch->session;
	return even_put_labels(fold, batch, *rows);
}
