/*
 * fold_log.c: reads the log into chunks in memory. See fold.c for the whole.
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

/* Opens the batch at fold->position, with the walk if it stands there, else with a new one. */
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
	     !store_walk_belongs(walk) ||
	     !store_batch_open(walk->value.mv_data, walk->value.mv_size, fold->rows_of_run, fold->sessions, batch) ||
	     batch->columns & ~fold->columns))
		return store_view_corrupt(view, DB_LOG, walk->key.mv_data, walk->key.mv_size, error);
	return rc;
}

/* Gets memory for the chunk. If none is left, the last chunk gives its memory up; if this chunk is the last, the range
 * ends before it. */
static struct fold_chunk *
find_memory(struct store_fold *fold, uint32_t number)
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

/* Reads what is stored of the chunk. */
static int
load_chunk(struct store_fold *fold, uint32_t number, struct fold_chunk *chunk, struct portolan_error *error)
{
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD);
	const struct chunk_place place = store_fold_place(fold, fold->epoch, number);
	const struct chunk_place of_run = store_fold_place(fold, STORE_EPOCH_RUN, number);
	int rc = 0;

	/* Stored observations have sessions, even if the record of these is missing. */
	if ((fold->fresh ? store_merge_clear(&chunk->epoch) : store_merge_reset(&chunk->epoch)) < 0 ||
	    (fold->examples && store_merge_reset(&chunk->examples) < 0))
		return store_fold_out_of_memory(fold, error);
	if (!fold->fresh)
		rc = store_chunk_load(&fold->writer->view, &place, UINT64_MAX & ~gold, &chunk->epoch, NULL, error);
	if (!rc && !chunk->epoch.stored && store_merge_clear(&chunk->epoch) < 0)
		return store_fold_out_of_memory(fold, error);
	chunk->before = store_merge_count(&chunk->epoch);
	if (!rc && fold->examples)
		rc = store_chunk_load(&fold->writer->view, &of_run, gold | STORE_COLUMN_BIT(STORE_SESSION),
		                      &chunk->examples, NULL, error);
	return rc;
}

/* The chunk, if it is in the range and takes rows of this position; else NULL. */
static int
find_chunk(struct store_fold *fold, uint32_t number, struct fold_chunk **found, struct portolan_error *error)
{
	struct fold_chunk *chunk = NULL;
	int rc;

	*found = NULL;
	if (number < fold->from || number >= fold->to)
		return 0;
	chunk = fold->chunks[number];
	if (!chunk) {
		chunk = find_memory(fold, number);
		if (!chunk)
			return number < fold->to ? store_fold_out_of_memory(fold, error) : 0;
		fold->chunks[number] = chunk;
		rc = load_chunk(fold, number, chunk, error);
		if (rc)
			return rc;
	}
	*found = fold->position >= chunk->epoch.merged ? chunk : NULL;
	return 0;
}

static int
merge_rows(const struct store_fold *fold, const struct batch *batch, struct merge_row *rows, size_t count)
{
	struct merge_row examples[GROUP];

	if (!batch->data[STORE_GOLD])
		return store_merge_rows(batch, UINT64_MAX, fold->order, rows, count);
	for (size_t i = 0; i < count; i++) {
		examples[i] = rows[i];
		examples[i].chunk =
		        &((struct fold_chunk *)rows[i].chunk)->examples; /* it begins with that of the epoch */
	}
	return store_merge_examples(batch, fold->order, examples, count) < 0
	               ? STORE_E_MEMORY
	               : store_merge_rows(batch, UINT64_MAX, fold->order, rows, count);
}

/* Merges rows from *row on, up to the first whose chunk is not ready. */
static int
merge_scattered(struct store_fold *fold, const struct batch *batch, uint32_t *row, struct portolan_error *error)
{
	struct merge_row rows[GROUP];
	size_t count = 0;

	for (; *row < batch->rows && count < GROUP; ++*row) {
		uint32_t index = load_u32(batch->index + 4 * (size_t)*row), number = index / STORE_CHUNK;
		struct fold_chunk *chunk;
		int rc;

		if (count && number >= fold->from && number < fold->to && !fold->chunks[number])
			break; /* a chunk of this group may have to give up its memory for it */
		rc = find_chunk(fold, number, &chunk, error);
		if (rc)
			return rc;
		if (chunk)
			rows[count++] = (struct merge_row){
			        .chunk = &chunk->epoch, .at = index - number * STORE_CHUNK, .row = *row};
	}
	return merge_rows(fold, batch, rows, count) < 0 ? store_fold_out_of_memory(fold, error) : 0;
}

/* Merges rows from *row on that belong to one chunk; their indices follow one another. */
static int
merge_stretch(struct store_fold *fold, const struct batch *batch, uint32_t *row, struct portolan_error *error)
{
	const uint32_t index = batch->first + *row, at = index % STORE_CHUNK;
	uint32_t count = STORE_CHUNK - at < batch->rows - *row ? STORE_CHUNK - at : batch->rows - *row;
	struct merge_row next = {.at = at, .row = *row};
	struct fold_chunk *chunk;
	int rc = find_chunk(fold, index / STORE_CHUNK, &chunk, error);

	*row += count;
	if (rc || !chunk)
		return rc;
	next.chunk = &chunk->epoch;
	if (store_merge_stretch(batch, UINT64_MAX, fold->order, next, count) < 0)
		return store_fold_out_of_memory(fold, error);
	next.chunk = &chunk->examples;
	while (count && batch->data[STORE_GOLD]) {
		struct merge_row rows[GROUP];
		size_t n = 0;

		for (; n < GROUP && count; n++, count--, next.at++, next.row++)
			rows[n] = next;
		if (store_merge_examples(batch, fold->order, rows, n) < 0)
			return store_fold_out_of_memory(fold, error);
	}
	return 0;
}

static struct fold_span
span_of(const struct batch *batch)
{
	uint32_t least = UINT32_MAX, most = 0;

	if (!batch->index)
		return (struct fold_span){.first = batch->first / STORE_CHUNK,
		                          .last = (batch->first + batch->rows - 1) / STORE_CHUNK};
	for (uint32_t row = 0; row < batch->rows; row++) {
		uint32_t index = load_u32(batch->index + 4 * (size_t)row);

		least = index < least ? index : least;
		most = index > most ? index : most;
	}
	return (struct fold_span){.first = least / STORE_CHUNK, .last = most / STORE_CHUNK};
}

/* The span of the entry at fold->position; NULL: there are none. */
static struct fold_span *
find_span(const struct store_fold *fold)
{
	return fold->spans ? &fold->spans[(fold->position - fold->begin) / fold->per_span] : NULL;
}

static void
note_span(const struct store_fold *fold, const struct batch *batch)
{
	struct fold_span *span = find_span(fold), more = span_of(batch);

	if ((fold->position - fold->begin) % fold->per_span == 0) {
		*span = more;
		return;
	}
	span->first = more.first < span->first ? more.first : span->first;
	span->last = more.last > span->last ? more.last : span->last;
}

/* Do the spans show that the batch at fold->position has no row in this range? */
static bool
can_skip(const struct store_fold *fold)
{
	const struct fold_span *span = fold->from ? find_span(fold) : NULL;

	return span && (span->last < fold->from || span->first >= fold->to);
}

static int
merge_batch(struct store_fold *fold, const struct batch *batch, struct portolan_error *error)
{
	int rc = 0;

	if (fold->spans && !fold->from)
		note_span(fold, batch);
	for (uint32_t row = 0; row < batch->rows && !rc;)
		rc = batch->index ? merge_scattered(fold, batch, &row, error) : merge_stretch(fold, batch, &row, error);
	return rc;
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
		if (!rc)
			rc = merge_batch(fold, &batch, error);
		if (rc)
			break;
		work += walk.value.mv_size;
		fold->bytes += fold->from ? 0 : walk.value.mv_size;
	}
	store_walk_close(&walk);
	if (!rc && fold->position == fold->end)
		fold->phase = FOLD_WRITE;
	return rc;
}

void
store_fold_next_range(struct store_fold *fold)
{
	fold->from = fold->next_write = fold->to;
	fold->to = fold->chunk_count;
	fold->position = fold->begin;
	fold->phase = FOLD_FILL;
}
