/*
 * fold_chunks.c: the work of a fold: the log into images, images into records. See fold.c for the whole.
 */
#include "fold.h"

#include "fold_write.h"

#include <stdlib.h>

#define GROUP 1024 /* rows merged at a time */

void
store_fold_drop_chunk(struct store_fold *fold, uint32_t number)
{
	struct fold_chunk *chunk = fold->active[number];

	if (!chunk)
		return;
	store_merge_free(&chunk->epoch);
	store_merge_free(&chunk->examples);
	free(chunk);
	fold->active[number] = NULL;
}

static struct chunk_place
place_of(const struct store_fold *fold, uint32_t epoch, uint32_t generation, uint32_t chunk)
{
	uint64_t left = fold->rows_of_run - (uint64_t)chunk * STORE_CHUNK;

	return (struct chunk_place){.run_name = fold->name,
	                            .run = fold->run,
	                            .epoch = epoch,
	                            .generation = generation,
	                            .chunk = chunk,
	                            .rows = left < STORE_CHUNK ? (uint32_t)left : STORE_CHUNK,
	                            .sessions = fold->sessions};
}

/* Makes a chunk active: its images as they are in the store now. */
static int
load_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	const struct view *view = &fold->writer->view;
	struct fold_chunk *chunk = calloc(1, sizeof(*chunk));
	struct chunk_place place = place_of(fold, fold->epoch, fold->generations[number], number);
	int rc;

	if (!chunk)
		return store_fold_out_of_memory(fold, error);
	chunk->number = number;
	fold->active[number] = chunk;
	if (store_merge_reset(&chunk->epoch) < 0 || (fold->examples && store_merge_reset(&chunk->examples) < 0))
		return store_fold_out_of_memory(fold, error);
	rc = store_chunk_load(view, &place, UINT64_MAX & ~STORE_COLUMN_BIT(STORE_GOLD), &chunk->epoch, error);
	if (!rc && fold->examples) {
		place = place_of(fold, STORE_EPOCH_RUN, fold->example_generations[number], number);
		rc = store_chunk_load(view, &place, STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION),
		                      &chunk->examples, error);
	}
	fold->states[number] = ACTIVE;
	return rc;
}

/* Decides what becomes of a row of chunk `number` in this pass. */
static int
admit(struct store_fold *fold, uint32_t number, size_t *loaded, struct portolan_error *error)
{
	const size_t estimate = 6 * STORE_CHUNK * sizeof(uint32_t); /* of a chunk with the usual columns */

	if (fold->states[number] != WAITING)
		return 0;
	if (fold->active_bytes && fold->active_bytes + estimate > fold->memory) {
		fold->states[number] = DEFERRED;
		fold->deferred = true;
		return 0;
	}
	*loaded += estimate;
	fold->active_bytes += estimate;
	return load_chunk(fold, number, error);
}

static int
merge_group(struct store_fold *fold, const struct batch *batch, struct merge_row *rows, size_t count,
            struct portolan_error *error)
{
	uint64_t replaced = 0;
	int rc = 0;

	if (fold->examples) {
		struct merge_row examples[GROUP];

		for (size_t i = 0; i < count; i++) {
			uint32_t number = load_u32(batch->index + 4 * (size_t)rows[i].row) / STORE_CHUNK;

			examples[i] = rows[i];
			examples[i].chunk = &fold->active[number]->examples;
		}
		rc = store_merge_examples(batch, fold->order, examples, count, &fold->seen, &fold->changed);
	}
	if (!rc)
		rc = store_merge_rows(batch, UINT64_MAX, fold->order, rows, count, &replaced);
	if (rc)
		return store_fold_out_of_memory(fold, error);
	fold->replaced[batch->session] += replaced;
	fold->all_replaced += replaced;
	return 0;
}

/* Goes on at fold->row while there is work left in the step; the batch is done when that is batch->rows. */
static int
merge_batch(struct store_fold *fold, const struct batch *batch, size_t row_bytes, size_t *work,
            struct portolan_error *error)
{
	uint32_t row = fold->row;
	int rc = 0;

	while (row < batch->rows && *work < FOLD_STEP_BYTES && !rc) {
		struct merge_row rows[GROUP];
		size_t count = 0;

		for (; row < batch->rows && count < GROUP && *work < FOLD_STEP_BYTES && !rc; row++) {
			uint32_t index = load_u32(batch->index + 4 * (size_t)row), number = index / STORE_CHUNK;

			if (fold->states[number] != ACTIVE)
				rc = admit(fold, number, work, error);
			if (!rc && fold->states[number] == ACTIVE)
				rows[count++] = (struct merge_row){
				        .chunk = &fold->active[number]->epoch, .at = index % STORE_CHUNK, .row = row};
			*work += row_bytes;
		}
		if (!rc)
			rc = merge_group(fold, batch, rows, count, error);
	}
	fold->row = row;
	return rc;
}

int
store_fold_scan(struct store_fold *fold, struct portolan_error *error)
{
	struct store_key from = store_key_log(fold->run, fold->epoch, fold->position);
	const struct view *view = &fold->writer->view;
	struct view_walk walk;
	size_t work = 0;
	int rc = store_walk_open(&walk, view, DB_LOG, &from, 8, error);

	while (!rc && work < FOLD_STEP_BYTES && fold->position < fold->end) {
		struct batch batch;

		rc = store_walk_next(&walk, error);
		if (!rc && (walk.key.mv_size != 16 ||
		            store_key_read_u64((const uint8_t *)walk.key.mv_data + 8) != fold->position ||
		            !store_batch_open(walk.value.mv_data, walk.value.mv_size, fold->rows_of_run, fold->sessions,
		                              &batch)))
			rc = store_view_corrupt(view, DB_LOG, walk.key.mv_data, walk.key.mv_size, error);
		else if (rc == VIEW_ABSENT)
			rc = store_view_corrupt(view, DB_LOG, from.data, from.size, error);
		if (rc)
			break;
		rc = merge_batch(fold, &batch, walk.value.mv_size / (batch.rows + 1) + 1, &work, error);
		if (fold->row < batch.rows)
			break; /* the rest in the next step */
		if (fold->first_pass) {
			fold->rows += batch.rows;
			fold->bytes += walk.value.mv_size;
		}
		fold->row = 0;
		fold->position++;
	}
	store_walk_close(&walk);
	if (!rc && fold->position == fold->end) {
		fold->phase = FOLD_WRITE;
		fold->next_write = 0;
	}
	return rc;
}

static int
write_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	struct fold_chunk *chunk = fold->active[number];
	struct chunk_place place = place_of(fold, fold->epoch, fold->generation, number);
	int rc = store_chunk_write(fold->writer, &place, &chunk->epoch, error);

	fold->new_generations[number] = fold->generation;
	if (!rc && chunk->examples.changed) {
		place = place_of(fold, STORE_EPOCH_RUN, fold->example_generation, number);
		rc = store_chunk_write(fold->writer, &place, &chunk->examples, error);
		fold->new_example_generations[number] = fold->example_generation;
	}
	fold->states[number] = DONE;
	store_fold_drop_chunk(fold, number);
	return rc;
}

int
store_fold_write(struct store_fold *fold, struct portolan_error *error)
{
	size_t before = fold->writer->pending;
	int rc = 0;

	for (; fold->next_write < fold->chunk_count && !rc; fold->next_write++) {
		if (fold->writer->pending - before >= FOLD_STEP_BYTES)
			return 0;
		if (fold->states[fold->next_write] == ACTIVE)
			rc = write_chunk(fold, fold->next_write, error);
		else if (fold->states[fold->next_write] == DEFERRED)
			fold->states[fold->next_write] = WAITING;
	}
	if (rc)
		return rc;
	fold->phase = FOLD_IDS;
	if (fold->deferred) { /* once more over the log, for the chunks there was no memory for */
		struct epoch_record epoch;

		rc = store_catalog_epoch(&fold->writer->view, fold->run, fold->epoch, &epoch, error);
		fold->position = epoch.log_begin;
		fold->phase = FOLD_SCAN;
	}
	fold->active_bytes = 0;
	fold->deferred = false;
	fold->first_pass = false;
	return rc;
}
