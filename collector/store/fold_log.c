/*
 * fold_log.c: an image from the log. See fold.c for the whole.
 *
 * The log is read once to count the rows of each chunk, and then once for each range of chunks whose rows fit in the
 * memory allowed. Which chunks a batch touches is remembered where there are several ranges, so that of examples in
 * order each is read three times at most.
 *
 * Rows of entries that a chunk is merged with already are left out: a fold that was given up had written it.
 */
#include "fold.h"

#include <stdlib.h>

/* More rows of one chunk than fit are folded in portions: the first one ends where the memory does. */
#define PORTION_LEAST (4 * STORE_CHUNK)

int
store_fold_from_log(struct store_fold *fold, const struct epoch_record *epoch, struct portolan_error *error)
{
	fold->from_log = true;
	fold->phase = FOLD_COUNT;
	fold->image = store_image_new(epoch->columns, fold->chunk_count);
	if (!fold->image)
		return store_fold_out_of_memory(fold, error);
	for (uint32_t i = 0; i < fold->chunk_count && !fold->fresh; i++)
		fold->image->chunks[i].merged = IMAGE_NOT_LOOKED_UP;
	if (epoch->log_rows * store_image_row_bytes(epoch->columns) > fold->memory)
		fold->spans = calloc(fold->end - fold->begin, sizeof(*fold->spans)); /* without it all is read again */
	return 0;
}

/* Opens the batch at fold->position, with the walk where it is or from there on. */
static int
open_batch(const struct store_fold *fold, struct view_walk *walk, struct batch *batch, struct portolan_error *error)
{
	struct store_key at = store_key_log(fold->run, fold->epoch, fold->position);
	const struct view *view = &fold->writer->view;
	int rc = walk->cursor ? 0 : store_walk_open(walk, view, DB_LOG, &at, 8, error);

	if (!rc)
		rc = store_walk_next(walk, error);
	if (rc == VIEW_ABSENT)
		return store_view_corrupt(view, DB_LOG, at.data, at.size, error);
	if (!rc &&
	    (walk->key.mv_size != 16 || store_key_read_u64((const uint8_t *)walk->key.mv_data + 8) != fold->position ||
	     !store_batch_open(walk->value.mv_data, walk->value.mv_size, fold->rows_of_run, fold->sessions, batch) ||
	     batch->columns & ~fold->image->columns))
		return store_view_corrupt(view, DB_LOG, walk->key.mv_data, walk->key.mv_size, error);
	return rc;
}

/* Up to where the chunk is merged. */
static int
look_up(const struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct image_chunk *chunk = &fold->image->chunks[number];
	const struct chunk_place place = store_fold_place(fold, fold->epoch, number);

	return chunk->merged == IMAGE_NOT_LOOKED_UP
	               ? store_chunk_merged(&fold->writer->view, &place, &chunk->merged, error)
	               : 0;
}

/* Adds the batch's rows to those that its chunks will take, or (`by` −1) takes them away again; *most: of one chunk. */
static int
count_rows(struct store_fold *fold, const struct batch *batch, int by, uint32_t *most, struct portolan_error *error)
{
	struct fold_span span = {.first = UINT32_MAX};
	int rc = 0;

	*most = 0;
	for (uint32_t row = 0; row < batch->rows && !rc; row++) {
		uint32_t number = store_batch_index(batch, row) / STORE_CHUNK;
		struct image_chunk *chunk = &fold->image->chunks[number];

		rc = look_up(fold, number, error);
		if (rc || fold->position < chunk->merged)
			continue;
		chunk->room += (uint32_t)by;
		*most = chunk->room > *most ? chunk->room : *most;
		span.first = number < span.first ? number : span.first;
		span.last = number > span.last ? number : span.last;
	}
	if (fold->spans)
		fold->spans[fold->position - fold->begin] = span;
	return rc;
}

int
store_fold_count(struct store_fold *fold, struct portolan_error *error)
{
	const size_t row_bytes = store_image_row_bytes(fold->image->columns);
	struct view_walk walk = {.cursor = NULL};
	size_t work = 0;
	int rc = 0;

	while (work < FOLD_READ_BYTES && fold->position < fold->end && !rc) {
		struct batch batch;
		uint32_t most;

		rc = open_batch(fold, &walk, &batch, error);
		if (!rc)
			rc = count_rows(fold, &batch, 1, &most, error);
		if (rc)
			break;
		if (most > PORTION_LEAST && most * row_bytes > fold->memory && fold->position > fold->begin) {
			rc = count_rows(fold, &batch, -1, &most, error);
			fold->end = fold->position; /* what is left is the next fold's */
			break;
		}
		work += walk.value.mv_size;
		fold->bytes += walk.value.mv_size;
		fold->position++;
	}
	store_walk_close(&walk);
	return !rc && fold->position == fold->end ? store_fold_next_range(fold, error) : rc;
}

int
store_fold_next_range(struct store_fold *fold, struct portolan_error *error)
{
	if (!store_image_next_chunks(fold->image, fold->memory))
		return store_fold_out_of_memory(fold, error);
	fold->position = fold->begin;
	fold->next_write = fold->image->from;
	fold->phase = FOLD_FILL;
	return 0;
}

/* Whether the batch at fold->position has nothing for this range. */
static bool
can_skip(const struct store_fold *fold)
{
	const struct fold_span *span = fold->spans ? &fold->spans[fold->position - fold->begin] : NULL;

	return span && (span->last < fold->image->from || span->first >= fold->image->to);
}

int
store_fold_fill(struct store_fold *fold, struct portolan_error *error)
{
	struct view_walk walk = {.cursor = NULL};
	size_t work = 0;
	int rc = 0;

	for (; work < FOLD_READ_BYTES && fold->position < fold->end; fold->position++) {
		struct batch batch;

		if (can_skip(fold)) {
			store_walk_close(&walk);
			work += 64;
			continue;
		}
		rc = open_batch(fold, &walk, &batch, error);
		if (!rc && !store_image_add(fold->image, &batch, fold->position))
			rc = store_fold_out_of_memory(fold, error);
		if (rc)
			break;
		work += walk.value.mv_size;
	}
	store_walk_close(&walk);
	if (!rc && fold->position == fold->end)
		fold->phase = FOLD_WRITE;
	return rc;
}
