/*
 * fold_chunks.c: filling chunks from the log. See fold.c for the whole.
 *
 * A chunk is made from what is stored of it when the first row for it comes, and takes the rows of entries that are not
 * merged into it yet, until chunks fill the memory allowed; rows of further chunks wait for the next pass.
 */
#include "fold.h"

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

/* Makes a chunk active: its images as they are in the store now. */
static int
load_chunk(struct store_fold *fold, uint32_t number, struct portolan_error *error)
{
	const struct view *view = &fold->writer->view;
	struct fold_chunk *chunk = calloc(1, sizeof(*chunk));
	struct chunk_place place = store_fold_place(fold, fold->epoch, number);
	int rc;

	if (!chunk)
		return store_fold_out_of_memory(fold, error);
	chunk->number = number;
	fold->active[number] = chunk;
	if (store_merge_reset(&chunk->epoch) < 0 || (fold->examples && store_merge_reset(&chunk->examples) < 0))
		return store_fold_out_of_memory(fold, error);
	rc = store_chunk_load(view, &place, UINT64_MAX & ~STORE_COLUMN_BIT(STORE_GOLD), &chunk->epoch, error);
	if (!rc && fold->examples) {
		place = store_fold_place(fold, STORE_EPOCH_RUN, number);
		rc = store_chunk_load(view, &place, STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION),
		                      &chunk->examples, error);
	}
	fold->states[number] = ACTIVE;
	return rc;
}

static bool
is_full(const struct store_fold *fold)
{
	return fold->active_bytes && fold->active_bytes + fold->chunk_bytes > fold->memory;
}

/* Decides what becomes of the rows of chunk `number` in this pass. */
static int
admit(struct store_fold *fold, uint32_t number, size_t *work, struct portolan_error *error)
{
	int rc;

	if (fold->states[number] != WAITING)
		return 0;
	if (is_full(fold)) {
		fold->states[number] = DEFERRED;
		fold->deferred = true;
		return 0;
	}
	fold->active_bytes += fold->chunk_bytes;
	rc = load_chunk(fold, number, error);
	if (!rc) /* an empty image is soon made */
		*work += fold->chunk_bytes / (fold->active[number]->epoch.stored ? 1 : 8);
	return rc;
}

struct group { /* rows to be merged one by one, in the batch's order */
	struct merge_row rows[GROUP];
	size_t count;
};

static struct fold_chunk *
active_of(const struct store_fold *fold, const struct batch *batch, uint32_t row)
{
	return fold->active[store_batch_index(batch, row) / STORE_CHUNK];
}

static int
merge_group(struct store_fold *fold, const struct batch *batch, struct group *group, struct portolan_error *error)
{
	int rc = 0;

	for (size_t i = 0; i < group->count; i++)
		active_of(fold, batch, group->rows[i].row)->rows++;
	if (fold->examples) {
		struct merge_row examples[GROUP];

		for (size_t i = 0; i < group->count; i++) {
			examples[i] = group->rows[i];
			examples[i].chunk = &active_of(fold, batch, group->rows[i].row)->examples;
		}
		rc = store_merge_examples(batch, fold->order, examples, group->count);
	}
	if (!rc)
		rc = store_merge_rows(batch, UINT64_MAX, fold->order, group->rows, group->count);
	group->count = 0;
	return rc ? store_fold_out_of_memory(fold, error) : 0;
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
		rc = fold->examples ? store_merge_examples_run(batch, &chunk->examples, stretch) : 0;
		/* Should this one not be easy, the examples' part is done again, which changes nothing. */
		if (!rc)
			rc = store_merge_run(batch, UINT64_MAX, &chunk->epoch, stretch);
		if (rc < 0)
			return store_fold_out_of_memory(fold, error);
		chunk->rows += rc == 0 ? stretch->count : 0;
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
	uint32_t index = store_batch_index(batch, row);
	struct merge_stretch stretch = {.at = index % STORE_CHUNK, .row = row, .count = 1};

	most = most < STORE_CHUNK - stretch.at ? most : STORE_CHUNK - stretch.at;
	if (!batch->index)
		stretch.count = most;
	while (stretch.count < most && store_batch_index(batch, row + stretch.count) == index + stretch.count)
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

	while (fold->row < batch->rows && *work < FOLD_READ_BYTES && !rc) {
		uint32_t number = store_batch_index(batch, fold->row) / STORE_CHUNK;
		struct merge_stretch stretch = find_stretch(batch, fold->row, batch->rows - fold->row);

		if (fold->states[number] != ACTIVE)
			rc = admit(fold, number, work, error);
		if (!rc && fold->states[number] == ACTIVE && fold->position >= fold->active[number]->epoch.merged)
			rc = merge_stretch(fold, batch, fold->active[number], &stretch, &group, error);
		fold->row += stretch.count;
		*work += row_bytes * stretch.count;
	}
	if (!rc && group.count)
		rc = merge_group(fold, batch, &group, error);
	return rc;
}

/* Which chunks the batch at fold->position touches, for further passes. */
static void
note_span(struct store_fold *fold, const struct batch *batch)
{
	uint32_t first = UINT32_MAX, last = 0;

	for (uint32_t row = 0; row < batch->rows; row++) {
		uint32_t index = store_batch_index(batch, row);

		first = index < first ? index : first;
		last = index > last ? index : last;
	}
	fold->spans[fold->position - fold->begin] =
	        (struct fold_span){.first = first / STORE_CHUNK, .last = last / STORE_CHUNK};
}

/* Whether the batch at fold->position need not be read in this pass. Of examples in order each is then read twice at
 * most, however many passes there are. */
static bool
can_skip(struct store_fold *fold)
{
	const struct fold_span *span;
	bool waiting = false;

	if (fold->first_pass || !fold->spans)
		return false;
	span = &fold->spans[fold->position - fold->begin];
	for (uint32_t chunk = span->first; chunk <= span->last && chunk < fold->chunk_count; chunk++) {
		if (fold->states[chunk] == ACTIVE)
			return false;
		waiting |= fold->states[chunk] != DONE;
	}
	if (waiting && !is_full(fold))
		return false;
	fold->deferred |= waiting;
	return true;
}

int
store_fold_batch(const struct store_fold *fold, struct view_walk *walk, uint64_t position, struct batch *batch,
                 struct portolan_error *error)
{
	struct store_key at = store_key_log(fold->run, fold->epoch, position);
	const struct view *view = &fold->writer->view;
	int rc = walk->cursor ? 0 : store_walk_open(walk, view, DB_LOG, &at, 8, error);

	if (!rc)
		rc = store_walk_next(walk, error);
	if (rc == VIEW_ABSENT)
		return store_view_corrupt(view, DB_LOG, at.data, at.size, error);
	if (!rc &&
	    (walk->key.mv_size != 16 || store_key_read_u64((const uint8_t *)walk->key.mv_data + 8) != position ||
	     !store_batch_open(walk->value.mv_data, walk->value.mv_size, fold->rows_of_run, fold->sessions, batch)))
		return store_view_corrupt(view, DB_LOG, walk->key.mv_data, walk->key.mv_size, error);
	return rc;
}

int
store_fold_scan(struct store_fold *fold, struct portolan_error *error)
{
	struct view_walk walk = {.cursor = NULL};
	size_t work = 0;
	int rc = 0;

	while (work < FOLD_READ_BYTES && fold->position < fold->end) {
		struct batch batch;

		if (can_skip(fold)) {
			store_walk_close(&walk);
			work += 64;
			fold->position++;
			continue;
		}
		rc = store_fold_batch(fold, &walk, fold->position, &batch, error);
		if (rc)
			break;
		if (fold->first_pass && fold->spans && fold->row == 0)
			note_span(fold, &batch);
		rc = merge_batch(fold, &batch, walk.value.mv_size / (batch.rows + 1) + 1, &work, error);
		if (rc || fold->row < batch.rows)
			break; /* the rest in the next step */
		if (fold->first_pass)
			fold->bytes += walk.value.mv_size;
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
