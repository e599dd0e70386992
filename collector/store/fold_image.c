/*
 * fold_image.c: chunks from the image of an epoch. See fold.c for the whole.
 *
 * The image holds the rows of a chunk in the order in which they came, like a batch, so they are merged by the same
 * rules as batches of the log are. Where each example came once, which is usual, nothing has to be decided and the
 * values are just put in their places.
 */
#include "fold.h"

#include "bits.h"

#include <stdlib.h>

#define GROUP 512

struct arrived { /* the rows of one chunk */
	struct batch batch;
	const uint16_t *places;
	const uint32_t *sessions; /* NULL: all are batch.session's */
};

/* Merges rows in the order in which they came, those of one session at a time. */
static int
merge_in_order(const struct store_fold *fold, const struct arrived *arrived, struct merge_chunk *chunk, bool examples)
{
	struct batch batch = arrived->batch;
	int rc = 0;

	for (uint32_t row = 0; row < batch.rows && !rc;) {
		struct merge_row rows[GROUP];
		size_t count = 0;

		batch.session = arrived->sessions ? arrived->sessions[row] : batch.session;
		for (; row < batch.rows && count < GROUP; row++) {
			if (arrived->sessions && arrived->sessions[row] != batch.session)
				break;
			rows[count++] = (struct merge_row){.chunk = chunk, .at = arrived->places[row], .row = row};
		}
		rc = examples ? store_merge_examples(&batch, fold->order, rows, count)
		              : store_merge_rows(&batch, UINT64_MAX, fold->order, rows, count);
	}
	return rc;
}

/* Whether no example came twice; then every place is marked. */
static bool
mark_places(const struct arrived *arrived, uint64_t *present)
{
	uint64_t twice = 0;

	for (uint32_t row = 0; row < arrived->batch.rows; row++) {
		uint64_t *word = &present[arrived->places[row] / 64], bit = UINT64_C(1) << (arrived->places[row] % 64);

		twice |= *word & bit;
		*word |= bit;
	}
	return twice == 0;
}

static void
put_values(const struct arrived *arrived, unsigned column, void *values)
{
	const uint8_t *data = arrived->batch.data[column];

	if (column_is_bits(column))
		for (uint32_t row = 0; row < arrived->batch.rows; row++)
			((uint64_t *)values)[arrived->places[row] / 64] |= (uint64_t)(data[row / 8] >> (row % 8) & 1)
			                                                   << (arrived->places[row] % 64);
	else
		for (uint32_t row = 0; row < arrived->batch.rows; row++)
			((uint32_t *)values)[arrived->places[row]] = load_u32(data + 4 * (size_t)row);
}

static int
merge_observations(const struct store_fold *fold, const struct arrived *arrived, struct merge_chunk *chunk)
{
	uint64_t columns = arrived->batch.columns & ~STORE_COLUMN_BIT(STORE_GOLD);
	uint32_t *session, last = STORE_CHUNK_WORDS;

	if (store_merge_reset(chunk) < 0)
		return STORE_E_MEMORY;
	if (!mark_places(arrived, chunk->present[STORE_GOLD_PROB])) {
		memset(chunk->present[STORE_GOLD_PROB], 0, STORE_CHUNK_WORDS * sizeof(uint64_t));
		return merge_in_order(fold, arrived, chunk, false);
	}
	while (chunk->present[STORE_GOLD_PROB][last - 1] == 0)
		last--;
	chunk->rows = last * 64 - (uint32_t)__builtin_clzll(chunk->present[STORE_GOLD_PROB][last - 1]);
	session = chunk->values[STORE_SESSION];
	for (uint32_t row = 0; row < chunk->rows && !arrived->sessions; row++)
		session[row] = arrived->batch.session;
	for (uint32_t row = 0; row < arrived->batch.rows && arrived->sessions; row++)
		session[arrived->places[row]] = arrived->sessions[row];
	for (; columns; columns &= columns - 1) {
		unsigned column = mask_first(columns);

		if (store_merge_column(chunk, column) < 0)
			return STORE_E_MEMORY;
		put_values(arrived, column, chunk->values[column]);
		if (!column_is_implied(column))
			memcpy(chunk->present[column], chunk->present[STORE_GOLD_PROB],
			       STORE_CHUNK_WORDS * sizeof(uint64_t));
	}
	return 0;
}

/* Nothing changes where every example was seen before and no labels come. */
static bool
brings_nothing(const struct arrived *arrived, const struct merge_chunk *epoch, const struct merge_chunk *examples)
{
	uint64_t new = 0;

	for (uint32_t i = 0; i < STORE_CHUNK_WORDS; i++)
		new |= epoch->present[STORE_GOLD_PROB][i] & ~examples->present[STORE_GOLD_PROB][i];
	return new == 0 && !arrived->batch.data[STORE_GOLD];
}

static int
merge_examples(struct store_fold *fold, const struct arrived *arrived, struct fold_chunk *chunk,
               struct portolan_error *error)
{
	const struct chunk_place place = store_fold_place(fold, STORE_EPOCH_RUN, chunk->number);
	int rc = store_merge_reset(&chunk->examples) < 0 ? store_fold_out_of_memory(fold, error) : 0;

	if (!rc)
		rc = store_chunk_load(&fold->writer->view, &place,
		                      STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION), &chunk->examples,
		                      error);
	if (!rc && !brings_nothing(arrived, &chunk->epoch, &chunk->examples) &&
	    merge_in_order(fold, arrived, &chunk->examples, true) < 0)
		rc = store_fold_out_of_memory(fold, error);
	return rc;
}

/* Merges the rows of this chunk that are only in the log. */
static int
merge_again(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error)
{
	const struct image *image = fold->image;
	int rc = 0;

	for (size_t i = 0; i < image->again_count && !rc; i++) {
		const struct image_again *again = &image->again[i];
		struct merge_row row = {.chunk = &chunk->examples, .at = again->index % STORE_CHUNK, .row = again->row};
		struct view_walk walk = {.cursor = NULL};
		struct batch batch;

		if (again->index / STORE_CHUNK != chunk->number)
			continue;
		rc = store_fold_batch(fold, &walk, again->position, &batch, error);
		if (!rc && fold->examples && store_merge_examples(&batch, fold->order, &row, 1) < 0)
			rc = store_fold_out_of_memory(fold, error);
		row.chunk = &chunk->epoch;
		if (!rc && store_merge_rows(&batch, UINT64_MAX, fold->order, &row, 1) < 0)
			rc = store_fold_out_of_memory(fold, error);
		chunk->rows++;
		store_walk_close(&walk);
	}
	return rc;
}

int
store_fold_image_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct fold_chunk *chunk = &fold->scratch;
	uint16_t places[STORE_CHUNK];
	struct arrived arrived;
	int rc = 0;

	if (!store_image_rows(fold->image, number, &arrived.batch, &arrived.places, places))
		return 0;
	arrived.sessions = fold->image->sessions ? fold->image->sessions + (size_t)number * STORE_CHUNK : NULL;
	chunk->number = number;
	chunk->rows = arrived.batch.rows;
	if (merge_observations(fold, &arrived, &chunk->epoch) < 0)
		return store_fold_out_of_memory(fold, error);
	if (fold->examples)
		rc = merge_examples(fold, &arrived, chunk, error);
	if (!rc)
		rc = merge_again(fold, chunk, error);
	return rc ? rc : store_fold_put_chunk(fold, chunk, error);
}
