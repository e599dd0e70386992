/*
 * overlay.c: the log as a snapshot sees it.
 *
 * The log is copied (only the columns wanted), because the collector takes entries out as it folds them, and a snapshot
 * must not change. Rows are then sorted by chunk with a counting sort that keeps log order, so that a block finds
 * its rows without looking at the others'.
 */
#include "overlay.h"

#include <errno.h>
#include <stdlib.h>

#define GROUP 512 /* rows merged by one call */

static int
out_of_memory(const struct view *view, struct portolan_error *error)
{
	return store_environment_error(view->environment, ENOMEM, "reading the log", error);
}

/* Copies index and wanted columns of `from` into one block of memory. */
static int
keep_batch(struct overlay *overlay, const struct batch *from, uint64_t wanted)
{
	uint64_t columns = from->columns & wanted;
	size_t bytes = pad8((size_t)from->rows * 4) + 8, at;
	struct batch *kept;
	uint8_t *block;

	if (overlay->batch_count == overlay->batch_room) {
		size_t room = 2 * overlay->batch_room + 64;
		struct batch *batches = realloc(overlay->batches, room * sizeof(*batches));
		void **blocks;

		if (!batches)
			return STORE_E_MEMORY;
		overlay->batches = batches;
		blocks = realloc(overlay->blocks, room * sizeof(*blocks));
		if (!blocks)
			return STORE_E_MEMORY;
		overlay->blocks = blocks;
		overlay->batch_room = room;
	}
	for (uint64_t mask = columns; mask; mask &= mask - 1)
		bytes += pad8(column_bytes(mask_first(mask), from->rows));
	block = malloc(bytes);
	if (!block)
		return STORE_E_MEMORY;
	kept = &overlay->batches[overlay->batch_count];
	*kept = (struct batch){.session = from->session,
	                       .rows = from->rows,
	                       .sequence = from->sequence,
	                       .columns = columns,
	                       .index = block};
	memcpy(block, from->index, (size_t)from->rows * 4);
	at = pad8((size_t)from->rows * 4);
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		memcpy(block + at, from->data[column], column_bytes(column, from->rows));
		kept->data[column] = block + at;
		at += pad8(column_bytes(column, from->rows));
	}
	overlay->blocks[overlay->batch_count++] = block;
	return 0;
}

static int
sort_rows(const struct overlay *overlay, size_t first_batch, struct overlay_part *part)
{
	size_t *next = calloc((size_t)overlay->chunk_count + 2, sizeof(*next));
	size_t total = 0;

	if (!next)
		return STORE_E_MEMORY;
	for (size_t b = first_batch; b < overlay->batch_count; b++) {
		const struct batch *batch = &overlay->batches[b];

		for (uint32_t row = 0; row < batch->rows; row++)
			next[load_u32(batch->index + 4 * (size_t)row) / STORE_CHUNK + 2]++;
		total += batch->rows;
	}
	part->rows = malloc((total + 1) * sizeof(*part->rows));
	if (!part->rows) {
		free(next);
		return STORE_E_MEMORY;
	}
	for (uint32_t chunk = 0; chunk < overlay->chunk_count; chunk++)
		next[chunk + 2] += next[chunk + 1];
	for (size_t b = first_batch; b < overlay->batch_count; b++) {
		const struct batch *batch = &overlay->batches[b];

		for (uint32_t row = 0; row < batch->rows; row++) {
			uint32_t chunk = load_u32(batch->index + 4 * (size_t)row) / STORE_CHUNK;

			part->rows[next[chunk + 1]++] = (struct overlay_row){.batch = (uint32_t)b, .row = row};
		}
	}
	part->first = next; /* next[c + 1] has become the end of chunk c, next[0] is 0 */
	return 0;
}

static int
copy_epoch(const struct view *view, const struct overlay_request *request, uint32_t epoch,
           const struct epoch_record *record, uint64_t columns, struct overlay *overlay, struct portolan_error *error)
{
	struct store_key from = store_key_log(request->run, epoch, record->log_begin);
	struct view_walk walk;
	int rc = store_walk_open(&walk, view, DB_LOG, &from, 8, error);

	while (!rc) {
		struct batch batch;

		rc = store_walk_next(&walk, error);
		if (rc)
			break;
		if (!store_batch_open(walk.value.mv_data, walk.value.mv_size, request->rows, request->sessions, &batch))
			rc = store_view_corrupt(view, DB_LOG, walk.key.mv_data, walk.key.mv_size, error);
		else if (keep_batch(overlay, &batch, columns) < 0)
			rc = out_of_memory(view, error);
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

int
store_overlay_build(const struct view *view, const struct overlay_request *request, struct overlay *overlay,
                    struct portolan_error *error)
{
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD);
	struct epoch_record *records = NULL;
	uint32_t *epochs = NULL;
	size_t count, place = 0;
	int rc;

	*overlay = (struct overlay){.chunk_count = store_chunks_of(request->rows), .epoch_count = request->epoch_count};
	overlay->epochs = calloc(request->epoch_count + 1, sizeof(*overlay->epochs));
	if (!overlay->epochs)
		return out_of_memory(view, error);
	rc = store_catalog_epochs(view, request->run, 0, UINT32_MAX, &epochs, &records, &count, error);
	for (size_t i = 0; i < count && !rc; i++) {
		size_t first_batch = overlay->batch_count;
		bool in_range;

		while (place < request->epoch_count && request->epochs[place] < epochs[i])
			place++;
		in_range = place < request->epoch_count && request->epochs[place] == epochs[i];
		if (records[i].log_rows == 0 || (!in_range && !request->every_epoch))
			continue;
		rc = copy_epoch(view, request, epochs[i], &records[i],
		                request->columns & (in_range ? UINT64_MAX : gold), overlay, error);
		if (!rc && in_range && sort_rows(overlay, first_batch, &overlay->epochs[place]) < 0)
			rc = out_of_memory(view, error);
	}
	if (!rc && request->every_epoch && overlay->batch_count && sort_rows(overlay, 0, &overlay->examples) < 0)
		rc = out_of_memory(view, error);
	free(epochs);
	free(records);
	if (rc)
		store_overlay_free(overlay);
	return rc;
}

void
store_overlay_free(struct overlay *overlay)
{
	for (size_t i = 0; i < overlay->batch_count; i++)
		free(overlay->blocks[i]);
	for (size_t i = 0; i < overlay->epoch_count && overlay->epochs; i++) {
		free(overlay->epochs[i].first);
		free(overlay->epochs[i].rows);
	}
	free(overlay->blocks);
	free(overlay->batches);
	free(overlay->epochs);
	free(overlay->examples.first);
	free(overlay->examples.rows);
	*overlay = (struct overlay){0};
}

int
store_overlay_apply(const struct overlay *overlay, const struct overlay_part *part, uint32_t chunk, bool examples,
                    uint64_t columns, const uint32_t *order, struct merge_chunk *image, uint64_t *counter)
{
	size_t at = part->first[chunk], end = part->first[chunk + 1];
	uint64_t changed = 0;
	int rc = 0;

	while (at < end && !rc) {
		struct merge_row rows[GROUP];
		uint32_t number = part->rows[at].batch;
		const struct batch *batch = &overlay->batches[number];
		size_t n = 0;

		for (; at < end && n < GROUP && part->rows[at].batch == number; at++, n++) {
			uint32_t row = part->rows[at].row;
			uint32_t index = load_u32(batch->index + 4 * (size_t)row);

			rows[n] = (struct merge_row){.chunk = image, .at = index % STORE_CHUNK, .row = row};
		}
		if (examples)
			rc = store_merge_examples(batch, order, rows, n, counter, &changed);
		else
			rc = store_merge_rows(batch, columns, order, rows, n, counter);
	}
	return rc;
}
