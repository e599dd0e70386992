/*
 * fold_image.c: chunks from the image of an epoch. See fold.c for the whole.
 *
 * The image holds the first observation of each example; those that came again are looked up in the log and merged over
 * it, in the order in which they came, as a fold from the log does.
 */
#include "fold.h"

#include "bits.h"

#include <stdlib.h>

#define GROUP 512

/* Merges what is kept per example, for one session: from bit `from` on to the first row of another session. */
static int
merge_examples_of(const struct store_fold *fold, const struct merge_chunk *epoch, struct merge_chunk *examples,
                  uint32_t *from)
{
	const uint32_t *sessions = epoch->values[STORE_SESSION];
	struct batch batch = {.rows = epoch->rows, .data[STORE_GOLD] = epoch->values[STORE_GOLD]};
	struct merge_row rows[GROUP];
	uint32_t at = *from;
	size_t count = 0;

	for (; at < epoch->rows && count < GROUP; at++) {
		if (!bit_get(epoch->present[STORE_GOLD_PROB], at))
			continue;
		if (count && sessions[at] != batch.session)
			break;
		batch.session = sessions[at];
		rows[count++] = (struct merge_row){.chunk = examples, .at = at, .row = at};
	}
	*from = at;
	return store_merge_examples(&batch, fold->order, rows, count);
}

static int
merge_examples(const struct store_fold *fold, const struct merge_chunk *epoch, struct merge_chunk *examples)
{
	const struct merge_stretch all = {.count = epoch->rows};
	const struct batch batch = {.session = fold->image->session,
	                            .rows = epoch->rows,
	                            .data[STORE_GOLD] = epoch->values[STORE_GOLD]};
	uint32_t at = 0;
	int rc = MERGE_NOT_EASY;

	if (!fold->image->sessions && bits_all_are(epoch->present[STORE_GOLD_PROB], 0, epoch->rows, true))
		rc = store_merge_examples_run(&batch, examples, &all);
	if (rc != MERGE_NOT_EASY)
		return rc;
	for (rc = 0; at < epoch->rows && !rc;)
		rc = merge_examples_of(fold, epoch, examples, &at);
	return rc;
}

/* Merges the observations of this chunk whose example had one already. */
static int
merge_again(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error)
{
	const struct image *image = fold->image;
	int rc = 0;

	for (size_t i = 0; i < image->again_count && !rc; i++) {
		const struct image_again *again = &image->again[i];
		struct view_walk walk = {.cursor = NULL};
		struct batch batch;
		struct merge_row row = {
		        .chunk = &chunk->examples, .at = again->index % STORE_CHUNK, .row = again->row};

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

static int
load_examples(struct store_fold *fold, struct fold_chunk *chunk, struct portolan_error *error)
{
	const struct chunk_place place = store_fold_place(fold, STORE_EPOCH_RUN, chunk->number);
	int rc = store_merge_reset(&chunk->examples) < 0 ? store_fold_out_of_memory(fold, error) : 0;

	if (!rc)
		rc = store_chunk_load(&fold->writer->view, &place,
		                      STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION), &chunk->examples,
		                      error);
	if (!rc && merge_examples(fold, &chunk->epoch, &chunk->examples) < 0)
		rc = store_fold_out_of_memory(fold, error);
	return rc;
}

int
store_fold_image_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	uint32_t sessions[STORE_CHUNK];
	struct fold_chunk chunk = {.number = number};
	int rc = 0;

	if ((size_t)number * STORE_CHUNK >= fold->image->rows ||
	    !store_image_chunk(fold->image, number, sessions, &chunk.epoch))
		return 0;
	for (uint32_t i = 0; i < STORE_CHUNK_WORDS; i++)
		chunk.rows += (uint32_t)__builtin_popcountll(chunk.epoch.present[STORE_GOLD_PROB][i]);
	if (fold->examples)
		rc = load_examples(fold, &chunk, error);
	if (!rc)
		rc = merge_again(fold, &chunk, error);
	if (!rc)
		rc = store_fold_put_chunk(fold, &chunk, error);
	store_merge_free(&chunk.examples);
	free(chunk.epoch.met);
	return rc;
}
