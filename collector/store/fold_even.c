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

/* Marks the places of the first rows as present, as far as they are free. Returns how many these are. */
static uint32_t
even_take_free(const struct batch *batch, uint64_t *present)
{
	uint32_t row;

	for (row = 0; row < batch->rows; row++) {
		const uint32_t index = even_index(batch, row);
		const uint64_t bit = UINT64_C(1) << (index % 64);

		if (present[index / 64] & bit)
			break;
		present[index / 64] |= bit;
	}
	return row;
}

/* Copies a column's values of the first rows to their places, which were free: so their bits are 0. */
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
	for (uint32_t row = 0; row < rows && !column_is_implied(column); row++)
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
	uint32_t lowest, highest, first, last, *session;
	bool have_sessions;

	*rows = 0;
	store_batch_range(batch, &lowest, &highest);
	first = lowest / STORE_CHUNK;
	last = highest / STORE_CHUNK;
	/* With fewer rows than chunks, to ask each chunk would take longer than it saves. */
	if (batch->rows == 0 || batch->rows <= last - first || !even_are_alike(fold, batch, first, last))
		return 0;
	have_sessions = fold->chunks[first]->epoch.columns & STORE_COLUMN_BIT(STORE_SESSION);
	*rows = even_take_free(batch, shared->present[STORE_GOLD_PROB]);
	for (uint32_t number = first; number <= last; number++)
		fold->chunks[number]->epoch.rows = store_chunk_rows(fold->rows_of_run, number);
	for (uint64_t mask = batch->columns & ~STORE_COLUMN_BIT(STORE_GOLD); mask; mask &= mask - 1)
		even_put_column(shared, batch, mask_first(mask), *rows);
	session = shared->values[STORE_SESSION];
	for (uint32_t row = 0; row < *rows && have_sessions; row++)
		session[even_index(batch, row)] = batch->session;
	return even_put_labels(fold, batch, *rows);
}
