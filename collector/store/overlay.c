/*
 * overlay.c: sorts the rows that are still in the log by chunk, so that a snapshot can merge those of a chunk over its
 * columns.
 *
 * Each batch is checked once, and stays in LMDB's memory. A counting sort that keeps log order then sorts the rows of
 * an epoch by chunk, so that a block finds its rows directly. The tables reach from the first chunk that the log
 * touches to the last, not over all declared examples.
 *
 * We tried to do without this, with epochs that are either log or columns as a whole. One late row then costs writing
 * its epoch again, or reading all of it from the log: ARCHITECTURE.md has the figures.
 */
#include "overlay.h"

#include "list.h"

#define GROUP 512 /* rows merged by one call */

static uint32_t
overlay_chunk_of(const struct batch *batch, uint32_t row)
{
	return store_batch_index(batch, row) / STORE_CHUNK;
}

/* Sets the part's range of chunks; returns the number of rows of its batches. */
static size_t
overlay_find_range(const struct overlay *overlay, size_t first_batch, struct overlay_part *part)
{
	uint32_t least = UINT32_MAX, most = 0;
	size_t total = 0;

	for (size_t b = first_batch; b < overlay->batch_count; b++) {
		const struct batch *batch = &overlay->batches[b];

		least = batch->lowest < least ? batch->lowest : least;
		most = batch->highest > most ? batch->highest : most;
		total += batch->rows;
	}
	part->from = least / STORE_CHUNK;
	part->chunks = total ? most / STORE_CHUNK - part->from + 1 : 0;
	return total;
}

static int
overlay_sort_rows(const struct overlay *overlay, size_t first_batch, struct overlay_part *part)
{
	size_t total = overlay_find_range(overlay, first_batch, part), *next;

	part->first = next = calloc((size_t)part->chunks + 2, sizeof(*next));
	part->rows = malloc((total + 1) * sizeof(*part->rows));
	if (!next || !part->rows)
		return STORE_E_MEMORY;
	for (size_t b = first_batch; b < overlay->batch_count; b++)
		for (uint32_t row = 0; row < overlay->batches[b].rows; row++)
			next[overlay_chunk_of(&overlay->batches[b], row) - part->from + 2]++;
	for (uint32_t chunk = 0; chunk < part->chunks; chunk++)
		next[chunk + 2] += next[chunk + 1];
	for (size_t b = first_batch; b < overlay->batch_count; b++)
		for (uint32_t row = 0; row < overlay->batches[b].rows; row++)
			part->rows[next[overlay_chunk_of(&overlay->batches[b], row) - part->from + 1]++] =
			        (struct overlay_row){.batch = (uint32_t)b, .row = row};
	return 0; /* next[c + 1] has become the end of chunk c, next[0] is 0 */
}

static int
overlay_read_epoch(const struct view *view, const struct overlay_request *request, const struct catalog_epoch *epoch,
                   struct overlay *overlay, struct portolan_error *error)
{
	const struct store_key from = store_key_log(request->run, epoch->epoch, epoch->record.log_begin);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const size_t first_batch = overlay->batch_count;
	struct batch batch;
	int rc;

	store_walk_open(&walk, view, DB_LOG, &from, 8, error);
	while ((rc = store_catalog_next_batch(&walk, request->rows, request->sessions, &batch, error)) == 0) {
		if (!list_grow(&overlay->batches, overlay->batch_count, sizeof(batch)))
			return store_view_no_memory(view, error);
		overlay->batches[overlay->batch_count++] = batch;
	}
	if (rc != VIEW_ABSENT)
		return rc;
	overlay->parts[overlay->part_count] = (struct overlay_part){.epoch = epoch->epoch};
	rc = overlay_sort_rows(overlay, first_batch, &overlay->parts[overlay->part_count++]);
	return rc ? store_view_no_memory(view, error) : 0;
}

int
store_overlay_build(const struct view *view, const struct overlay_request *request, struct overlay *overlay,
                    struct portolan_error *error)
{
	int rc = 0;

	*overlay = (struct overlay){.parts = calloc(request->epoch_count + 1, sizeof(*overlay->parts))};
	if (!overlay->parts)
		return store_view_no_memory(view, error);
	for (size_t i = 0; i < request->epoch_count && !rc; i++)
		if (request->epochs[i].record.log_rows)
			rc = overlay_read_epoch(view, request, &request->epochs[i], overlay, error);
	if (rc)
		store_overlay_free(overlay);
	return rc;
}

void
store_overlay_free(struct overlay *overlay)
{
	for (size_t i = 0; i < overlay->part_count; i++) {
		free(overlay->parts[i].first);
		free(overlay->parts[i].rows);
	}
	free(overlay->batches);
	free(overlay->parts);
	*overlay = (struct overlay){0};
}

int
store_overlay_apply(const struct overlay *overlay, const struct overlay_part *part, uint32_t chunk, uint64_t merged,
                    uint64_t columns, const uint32_t *order, struct merge_chunk *image)
{
	size_t at = part->first[chunk - part->from], end = part->first[chunk - part->from + 1];
	int rc = 0;

	while (at < end && overlay->batches[part->rows[at].batch].position < merged)
		at++;
	while (at < end && !rc) {
		struct merge_row rows[GROUP];
		uint32_t number = part->rows[at].batch;
		const struct batch *batch = &overlay->batches[number];
		size_t n = 0;

		for (; at < end && n < GROUP && part->rows[at].batch == number; at++, n++) {
			uint32_t row = part->rows[at].row, index = store_batch_index(batch, row);

			rows[n] = (struct merge_row){.chunk = image, .at = index % STORE_CHUNK, .row = row};
		}
		if (columns)
			rc = store_merge_rows(batch, columns, order, rows, n);
		for (size_t i = 0; i < n && !columns && !rc; i++)
			rc = store_merge_example(batch, order, rows[i]);
	}
	return rc;
}
