/*
 * fold_image.c: chunks from an image. See fold.c for the whole.
 *
 * The image holds the rows of a chunk in the order in which they came, like a batch, so they are merged by the same
 * rules as batches of the log are for readers. Where each example came once, and nothing is stored of the chunk, which
 * is usual, nothing has to be decided and the values are just put in their places.
 */
#include "fold.h"

#include "fold_write.h"

#include <stdlib.h>

#define GROUP 512

/* The rows from one source, as a batch of it. */
static struct batch
batch_of(const struct store_fold *fold, const struct image_rows *arrived, uint32_t row)
{
	struct batch batch = arrived->batch;

	if (arrived->sources) {
		const struct image_source *source = &fold->image->sources[arrived->sources[row]];

		batch.session = source->session;
		batch.columns = source->columns;
	}
	if (!(batch.columns & STORE_COLUMN_BIT(STORE_GOLD)))
		batch.data[STORE_GOLD] = NULL;
	return batch;
}

/* Merges rows in the order in which they came, those of one source at a time. */
static int
merge_in_order(const struct store_fold *fold, const struct image_rows *arrived, struct merge_chunk *chunk,
               bool examples)
{
	int rc = 0;

	for (uint32_t row = 0; row < arrived->batch.rows && !rc;) {
		const struct batch batch = batch_of(fold, arrived, row);
		const uint32_t *sources = arrived->sources, first = row;
		struct merge_row rows[GROUP];
		size_t count = 0;

		for (; row < batch.rows && count < GROUP && (!sources || sources[row] == sources[first]); row++)
			rows[count++] = (struct merge_row){.chunk = chunk, .at = arrived->places[row], .row = row};
		rc = examples ? store_merge_examples(&batch, fold->order, rows, count)
		              : store_merge_rows(&batch, UINT64_MAX, fold->order, rows, count);
	}
	return rc;
}

/* Whether no example came twice; then every place is marked. */
static bool
mark_places(const struct image_rows *arrived, uint64_t *present)
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
put_values(const struct image_rows *arrived, unsigned column, void *values)
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

/* Puts the values of rows that all have the same columns and are marked already. */
static int
put_rows(const struct store_fold *fold, const struct image_rows *arrived, struct merge_chunk *chunk)
{
	uint64_t columns = arrived->batch.columns & ~STORE_COLUMN_BIT(STORE_GOLD);
	uint32_t *session = chunk->values[STORE_SESSION], last = STORE_CHUNK_WORDS;

	while (chunk->present[STORE_GOLD_PROB][last - 1] == 0)
		last--;
	chunk->rows = last * 64 - (uint32_t)__builtin_clzll(chunk->present[STORE_GOLD_PROB][last - 1]);
	for (uint32_t row = 0; row < chunk->rows && !arrived->sources; row++)
		session[row] = arrived->batch.session;
	for (uint32_t row = 0; row < arrived->batch.rows && arrived->sources; row++)
		session[arrived->places[row]] = fold->image->sources[arrived->sources[row]].session;
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

static bool
have_same_columns(const struct image *image)
{
	for (uint32_t i = 1; i < image->source_count; i++)
		if (image->sources[i].columns != image->sources[0].columns)
			return false;
	return true;
}

static int
merge_observations(struct store_fold *fold, const struct image_rows *arrived, struct fold_chunk *chunk,
                   struct portolan_error *error)
{
	const struct chunk_place place = store_fold_place(fold, fold->epoch, chunk->number);
	uint64_t *present;
	int rc = store_merge_reset(&chunk->epoch) < 0 ? store_fold_out_of_memory(fold, error) : 0;

	if (!rc && !fold->fresh)
		rc = store_chunk_load(&fold->writer->view, &place, UINT64_MAX & ~STORE_COLUMN_BIT(STORE_GOLD),
		                      &chunk->epoch, error);
	if (rc)
		return rc;
	present = chunk->epoch.present[STORE_GOLD_PROB];
	if (!chunk->epoch.stored && have_same_columns(fold->image) && mark_places(arrived, present)) {
		rc = put_rows(fold, arrived, &chunk->epoch);
	} else {
		if (!chunk->epoch.stored)
			memset(present, 0, STORE_CHUNK_WORDS * sizeof(*present));
		rc = merge_in_order(fold, arrived, &chunk->epoch, false);
	}
	return rc ? store_fold_out_of_memory(fold, error) : 0;
}

/* Nothing changes where every example was seen before and no labels come. */
static bool
brings_nothing(const struct store_fold *fold, const struct fold_chunk *chunk)
{
	uint64_t new = 0;

	for (uint32_t i = 0; i < STORE_CHUNK_WORDS; i++)
		new |= chunk->epoch.present[STORE_GOLD_PROB][i] & ~chunk->examples.present[STORE_GOLD_PROB][i];
	return new == 0 && !(fold->image->columns & STORE_COLUMN_BIT(STORE_GOLD));
}

static int
merge_examples(struct store_fold *fold, const struct image_rows *arrived, struct fold_chunk *chunk,
               struct portolan_error *error)
{
	const struct chunk_place place = store_fold_place(fold, STORE_EPOCH_RUN, chunk->number);
	int rc = store_merge_reset(&chunk->examples) < 0 ? store_fold_out_of_memory(fold, error) : 0;

	if (!rc)
		rc = store_chunk_load(&fold->writer->view, &place,
		                      STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION), &chunk->examples,
		                      error);
	if (!rc && !brings_nothing(fold, chunk) && merge_in_order(fold, arrived, &chunk->examples, true) < 0)
		rc = store_fold_out_of_memory(fold, error);
	return rc;
}

static int
put_chunk(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error)
{
	struct chunk_place place = store_fold_place(fold, fold->epoch, chunk->number);
	int rc;

	chunk->epoch.merged = fold->end;
	rc = store_chunk_write(fold->writer, &place, &chunk->epoch, error);
	if (!rc && chunk->examples.changed) {
		place = store_fold_place(fold, STORE_EPOCH_RUN, chunk->number);
		rc = store_chunk_write(fold->writer, &place, &chunk->examples, error);
	}
	return rc;
}

int
store_fold_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct fold_chunk *chunk = &fold->scratch;
	struct fold_counts *counts = &fold->counts;
	uint16_t places[IMAGE_ROOM];
	struct image_rows arrived;
	int rc;

	if (!store_image_rows(fold->image, number, &arrived, places))
		return 0;
	chunk->number = number;
	rc = merge_observations(fold, &arrived, chunk, error);
	if (!rc && fold->examples)
		rc = merge_examples(fold, &arrived, chunk, error);
	if (!rc)
		rc = put_chunk(fold, chunk, error);
	counts->chunks++;
	counts->rows += arrived.batch.rows;
	counts->seen += chunk->examples.seen;
	counts->relabelled += chunk->examples.relabelled;
	for (uint32_t i = 0; i < chunk->epoch.met_count; i++) {
		counts->replaced += chunk->epoch.met[i].count;
		counts->by_session[chunk->epoch.met[i].session] += chunk->epoch.met[i].count;
	}
	return rc;
}
