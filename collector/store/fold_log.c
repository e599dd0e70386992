/*
 * fold_log.c: the first half of a fold (fold.c): reads the log of an epoch, and merges it with the stored columns into
 * chunks in memory.
 *
 * Rows are merged into their chunks by the rule that readers use. A chunk gets memory when its first row comes. When no
 * memory is left, the last chunk is given up, and the range of chunks ends before it. So after one reading each chunk
 * of the range is complete, however the rows are spread. The log is then read again for the chunks after the range. If
 * not all chunks may fit, the first reading notes which chunks each group of entries touches (a span), so that nearly
 * every entry is read twice at most if examples come in order.
 *
 * Entries that a chunk already contains, from a fold that was given up, are skipped.
 */
#include "fold.h"

#include <stdlib.h>

#define GROUP 512 /* rows merged at a time */

int
store_fold_out_of_memory(const struct store_fold *fold, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY, "store '%s': out of memory turning epoch %u of run '%s' into columns",
	                 fold->writer->directory, fold->epoch, fold->name);
}

/* Opens the batch at fold->position, with the walk if it stands there, else with a new one. */
static int
fold_open_batch(const struct store_fold *fold, struct view_walk *walk, struct batch *batch,
                struct portolan_error *error)
{
	const struct store_key at = store_key_log(fold->run, fold->epoch, fold->position);
	const struct view *view = fold->view;
	int rc;

	if (!walk->cursor)
		store_walk_open(walk, view, DB_LOG, &at, 8, error);
	rc = store_catalog_next_batch(walk, fold->rows_of_run, fold->sessions, batch, error);
	if (rc == VIEW_ABSENT)
		return store_view_corrupt(view, DB_LOG, at.data, at.size, error);
	if (!rc && (batch->position != fold->position || batch->columns & ~fold->columns))
		return store_walk_corrupt(walk, error);
	return rc;
}

/* Gets memory for the chunk. If none is left, the last chunk gives its memory up; if this chunk is the last, the range
 * ends before it. */
static struct fold_chunk *
fold_find_memory(struct store_fold *fold, uint32_t number)
{
	struct fold_chunk *chunk = fold->unused;

	if (!chunk && fold->taken < fold->most) {
		chunk = calloc(1, sizeof(*chunk));
		fold->taken += chunk != NULL;
		return chunk;
	}
	while (!chunk && --fold->to > number) {
		chunk = fold->chunks[fold->to];
		fold->chunks[fold->to] = NULL;
	}
	if (chunk == fold->unused && chunk)
		fold->unused = chunk->next;
	return chunk;
}

int
store_fold_load_examples(const struct store_fold *fold, uint32_t number, bool whole, struct merge_chunk *examples,
                         struct portolan_error *error)
{
	const uint64_t columns = STORE_COLUMN_BIT(STORE_GOLD) | STORE_COLUMN_BIT(STORE_SESSION);
	const struct chunk_place of_run = store_fold_place(fold, STORE_EPOCH_RUN, number);

	if ((whole ? store_merge_reset(examples) : store_merge_clear(examples)) < 0)
		return store_fold_out_of_memory(fold, error);
	return store_chunk_load(fold->view, &of_run, whole ? columns : 0, examples, NULL, error);
}

/* Reads what is stored of the chunk. */
static int
fold_load_chunk(struct store_fold *fold, uint32_t number, struct fold_chunk *chunk, struct portolan_error *error)
{
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD);
	const struct chunk_place place = store_fold_place(fold, fold->epoch, number);
	int rc = 0;

	/* Stored observations have sessions, even if the column of sessions is missing. */
	if ((fold->fresh ? store_merge_clear(&chunk->epoch) : store_merge_reset(&chunk->epoch)) < 0)
		return store_fold_out_of_memory(fold, error);
	if (!fold->fresh)
		rc = store_chunk_load(fold->view, &place, UINT64_MAX & ~gold, &chunk->epoch, NULL, error);
	if (!rc && !chunk->epoch.stored && store_merge_clear(&chunk->epoch) < 0)
		return store_fold_out_of_memory(fold, error);
	chunk->before = store_merge_count(&chunk->epoch);
	if (!rc && fold->examples)
		rc = store_fold_load_examples(fold, number, fold->columns & gold, &chunk->examples, error);
	return rc;
}

/* Finds the chunk. *found is NULL if it is not in the range, or already contains the entry at fold->position. */
static int
fold_find_chunk(struct store_fold *fold, uint32_t number, struct fold_chunk **found, struct portolan_error *error)
{
	struct fold_chunk *chunk = NULL;
	int rc;

	*found = NULL;
	if (number < fold->from || number >= fold->to)
		return 0;
	chunk = fold->chunks[number];
	if (!chunk) {
		chunk = fold_find_memory(fold, number);
		if (!chunk)
			return number < fold->to ? store_fold_out_of_memory(fold, error) : 0;
		fold->chunks[number] = chunk;
		if (fold->shared)
			store_merge_share(&chunk->epoch, fold->shared, number);
		rc = fold_load_chunk(fold, number, chunk, error);
		if (rc)
			return rc;
	}
	*found = fold->position >= chunk->epoch.merged ? chunk : NULL;
	return 0;
}

/* Merges rows into their epoch's chunks, and their labels, if there are any, into the values kept per example. */
static int
fold_merge_rows(const struct store_fold *fold, const struct batch *batch, struct merge_row *rows, size_t count)
{
	for (size_t i = 0; i < count && batch->data[STORE_GOLD]; i++) {
		struct merge_row example = rows[i];

		/* The chunk of an epoch is the first member of its struct fold_chunk. */
		example.chunk = &((struct fold_chunk *)example.chunk)->examples;
		if (store_merge_example(batch, fold->order, example) < 0)
			return STORE_E_MEMORY;
	}
	return store_merge_rows(batch, UINT64_MAX, fold->order, rows, count);
}

/* Merges rows from *row on, up to the first whose chunk is not ready. */
static int
fold_merge_scattered(struct store_fold *fold, const struct batch *batch, uint32_t *row, struct portolan_error *error)
{
	struct merge_row rows[GROUP];
	size_t count = 0;

	for (; *row < batch->rows && count < GROUP; ++*row) {
		uint32_t index = load_u32(batch->index + 4 * (size_t)*row), number = index / STORE_CHUNK;
		struct fold_chunk *chunk;
		int rc;

		if (count && number >= fold->from && number < fold->to && !fold->chunks[number])
			break; /* to get memory for this chunk, one of the group may have to give up its own */
		rc = fold_find_chunk(fold, number, &chunk, error);
		if (rc)
			return rc;
		if (chunk)
			rows[count++] = (struct merge_row){
			        .chunk = &chunk->epoch, .at = index - number * STORE_CHUNK, .row = *row};
	}
	return fold_merge_rows(fold, batch, rows, count) < 0 ? store_fold_out_of_memory(fold, error) : 0;
}

/* Merges rows from *row on that belong to one chunk; their indices follow one another. */
static int
fold_merge_stretch(struct store_fold *fold, const struct batch *batch, uint32_t *row, struct portolan_error *error)
{
	const uint32_t index = batch->first + *row, at = index % STORE_CHUNK, first = *row;
	const uint32_t count = STORE_CHUNK - at < batch->rows - first ? STORE_CHUNK - at : batch->rows - first;
	struct fold_chunk *chunk;
	int rc = fold_find_chunk(fold, index / STORE_CHUNK, &chunk, error);

	*row += count;
	if (rc || !chunk)
		return rc;
	rc = store_merge_stretch(batch, UINT64_MAX, fold->order,
	                         (struct merge_row){.chunk = &chunk->epoch, .at = at, .row = first}, count);
	for (uint32_t i = 0; i < count && !rc && batch->data[STORE_GOLD]; i++)
		rc = store_merge_example(batch, fold->order,
		                         (struct merge_row){.chunk = &chunk->examples, .at = at + i, .row = first + i});
	return rc ? store_fold_out_of_memory(fold, error) : 0;
}

/* The span of the entry at fold->position; NULL: the fold has no spans. */
static struct fold_span *
fold_find_span(const struct store_fold *fold)
{
	return fold->spans ? &fold->spans[(fold->position - fold->begin) / fold->per_span] : NULL;
}

static void
fold_note_span(const struct store_fold *fold, const struct batch *batch)
{
	struct fold_span *span = fold_find_span(fold);
	const struct fold_span more = {.first = batch->lowest / STORE_CHUNK, .last = batch->highest / STORE_CHUNK};

	if ((fold->position - fold->begin) % fold->per_span == 0) {
		*span = more;
		return;
	}
	span->first = more.first < span->first ? more.first : span->first;
	span->last = more.last > span->last ? more.last : span->last;
}

/* Do the spans show that the batch at fold->position has no row in this range? */
static bool
fold_can_skip(const struct store_fold *fold)
{
	const struct fold_span *span = fold->from ? fold_find_span(fold) : NULL;

	return span && (span->last < fold->from || span->first >= fold->to);
}

static int
fold_merge_batch(struct store_fold *fold, const struct batch *batch, struct portolan_error *error)
{
	uint32_t row = 0;
	int rc = 0;

	if (fold->spans && !fold->from)
		fold_note_span(fold, batch);
	if (batch->index && fold->shared && store_fold_even(fold, batch, &row) < 0)
		return store_fold_out_of_memory(fold, error);
	while (row < batch->rows && !rc)
		rc = batch->index ? fold_merge_scattered(fold, batch, &row, error)
		                  : fold_merge_stretch(fold, batch, &row, error);
	return rc;
}

int
store_fold_fill(struct store_fold *fold, struct portolan_error *error)
{
	CLEANUP(store_walk_close) struct view_walk walk = {0};

	for (size_t work = 0; work < FOLD_READ_BYTES && fold->position < fold->end && !atomic_load(&fold->ahead.stop);
	     fold->position++) {
		struct batch batch;
		int rc;

		if (fold_can_skip(fold)) {
			store_walk_close(&walk);
			work += 64;
			continue;
		}
		rc = fold_open_batch(fold, &walk, &batch, error) ?: fold_merge_batch(fold, &batch, error);
		if (rc)
			return rc;
		work += walk.value.mv_size;
		fold->bytes += fold->from ? 0 : walk.value.mv_size;
	}
	if (fold->position == fold->end)
		fold->phase = FOLD_WRITE;
	return 0;
}

void
store_fold_next_range(struct store_fold *fold)
{
	fold->from = fold->next_write = fold->to;
	fold->to = fold->chunk_count;
	fold->position = fold->begin;
	fold->phase = FOLD_FILL;
}
