/*
 * fold_chunks.c: the work of a fold: the log into images, images into records. See fold.c for the whole.
 */
#include "fold.h"

#include "fold_write.h"

#include <stdlib.h>

#define GROUP 1024      /* rows merged at a time */
#define LONG_STRETCH 32 /* rows from which on a stretch is worth its own treatment */

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

/* Decides what becomes of the rows of chunk `number` in this pass. */
static int
admit(struct store_fold *fold, uint32_t number, size_t *work, struct portolan_error *error)
{
	bool stored = fold->generations[number] || (fold->examples && fold->example_generations[number]);

	if (fold->states[number] != WAITING)
		return 0;
	if (fold->active_bytes && fold->active_bytes + fold->chunk_bytes > fold->memory) {
		fold->states[number] = DEFERRED;
		fold->deferred = true;
		return 0;
	}
	*work += fold->chunk_bytes / (stored ? 1 : 8); /* an empty image is soon made */
	fold->active_bytes += fold->chunk_bytes;
	return load_chunk(fold, number, error);
}

struct group { /* rows to be merged one by one, in the batch's order */
	struct merge_row rows[GROUP];
	size_t count;
};

static int
merge_group(struct store_fold *fold, const struct batch *batch, struct group *group, struct portolan_error *error)
{
	uint64_t replaced = 0;
	int rc = 0;

	if (fold->examples) {
		struct merge_row examples[GROUP];

		for (size_t i = 0; i < group->count; i++) {
			uint32_t number = load_u32(batch->index + 4 * (size_t)group->rows[i].row) / STORE_CHUNK;

			examples[i] = group->rows[i];
			examples[i].chunk = &fold->active[number]->examples;
		}
		rc = store_merge_examples(batch, fold->order, examples, group->count, &fold->seen, &fold->changed);
	}
	if (!rc)
		rc = store_merge_rows(batch, UINT64_MAX, fold->order, group->rows, group->count, &replaced);
	group->count = 0;
	if (rc)
		return store_fold_out_of_memory(fold, error);
	fold->replaced[batch->session] += replaced;
	fold->all_replaced += replaced;
	return 0;
}

/* Merges a stretch of an active chunk: as a whole where that is possible, or by way of the group. */
static int
merge_stretch(struct store_fold *fold, const struct batch *batch, struct fold_chunk *chunk,
              const struct merge_stretch *stretch, struct group *group, struct portolan_error *error)
{
	int rc = MERGE_NOT_EASY;

	if (stretch->count >= LONG_STRETCH) {
		if (group->count && merge_group(fold, batch, group, error) < 0)
			return STORE_E_MEMORY;
		rc = fold->examples ? store_merge_examples_run(batch, &chunk->examples, stretch, &fold->seen) : 0;
		/* Should this one not be easy, the examples' part is done again, which changes nothing. */
		if (!rc)
			rc = store_merge_run(batch, UINT64_MAX, &chunk->epoch, stretch);
		if (rc < 0)
			return store_fold_out_of_memory(fold, error);
	}
	for (uint32_t i = 0; i < stretch->count && rc == MERGE_NOT_EASY; i++) {
		if (group->count == GROUP && merge_group(fold, batch, group, error) < 0)
			return STORE_E_MEMORY;
		group->rows[group->count++] =
		        (struct merge_row){.chunk = &chunk->epoch, .at = stretch->at + i, .row = stretch->row + i};
	}
	return 0;
}

/* The rows from `row` on whose indices follow one another, at most `most`, within one chunk. */
static struct merge_stretch
find_stretch(const struct batch *batch, uint32_t row, uint32_t most)
{
	uint32_t index = load_u32(batch->index + 4 * (size_t)row);
	struct merge_stretch stretch = {.at = index % STORE_CHUNK, .row = row, .count = 1};

	most = most < STORE_CHUNK - stretch.at ? most : STORE_CHUNK - stretch.at;
	while (stretch.count < most &&
	       load_u32(batch->index + 4 * ((size_t)row + stretch.count)) == index + stretch.count)
		stretch.count++;
	return stretch;
}

/* Goes on at fold->row while there is work left in the step; the batch is done when that is batch->rows. */
static int
merge_batch(struct store_fold *fold, const struct batch *batch, size_t row_bytes, size_t *work,
            struct portolan_error *error)
{
	struct group group = {.count = 0};
	int rc = 0;

	while (fold->row < batch->rows && *work < FOLD_STEP_BYTES && !rc) {
		uint32_t number = load_u32(batch->index + 4 * (size_t)fold->row) / STORE_CHUNK;
		struct merge_stretch stretch = find_stretch(batch, fold->row, batch->rows - fold->row);

		if (fold->states[number] != ACTIVE)
			rc = admit(fold, number, work, error);
		if (!rc && fold->states[number] == ACTIVE)
			rc = merge_stretch(fold, batch, fold->active[number], &stretch, &group, error);
		fold->row += stretch.count;
		*work += row_bytes * stretch.count;
	}
	if (!rc && group.count)
		rc = merge_group(fold, batch, &group, error);
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
