/*
 * read_cursor.c: the reader's cursor (store_cursor_…): gives the values and ids of a run, as a snapshot has them, one
 * block of examples after another.
 *
 * A complete column is read in place in the store, after its checksum was compared. A column that is packed, or of
 * whose chunk the log has rows, is unpacked into the cursor's own memory, and the log's rows are merged into it.
 */
#include "ids.h"
#include "read.h"

#include <stdlib.h>

struct store_cursor {
	struct store_snapshot *snapshot;
	struct merge_chunk *images; /* of a block, by epoch */
	struct chunk_lent *lent;    /* of a block, by epoch */
	struct merge_chunk examples;
	struct store_values *values;
	uint64_t *integers;
	char *text;
	uint32_t *offsets;
	size_t text_room;
};

int
store_cursor_open(struct store_snapshot *snapshot, struct store_cursor **cursor, struct portolan_error *error)
{
	struct store_cursor *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return store_view_no_memory(&snapshot->view, error);
	opened->snapshot = snapshot;
	opened->images = calloc(snapshot->epoch_count + 1, sizeof(*opened->images));
	opened->values = calloc((snapshot->epoch_count + 1) * STORE_COLUMN_MAX, sizeof(*opened->values));
	opened->lent = calloc(snapshot->epoch_count + 1, sizeof(*opened->lent));
	if (!opened->images || !opened->lent || !opened->values) {
		store_cursor_close(opened);
		return store_view_no_memory(&snapshot->view, error);
	}
	*cursor = opened;
	return 0;
}

void
store_cursor_close(struct store_cursor *cursor)
{
	if (!cursor)
		return;
	for (size_t e = 0; e < cursor->snapshot->epoch_count && cursor->images; e++)
		store_merge_free(&cursor->images[e]);
	store_merge_free(&cursor->examples);
	free(cursor->images);
	free(cursor->lent);
	free(cursor->values);
	free(cursor->integers);
	free(cursor->text);
	free(cursor->offsets);
	free(cursor);
}

static struct store_values
cursor_column_values(const struct merge_chunk *image, const struct chunk_lent *lent, unsigned column, uint32_t rows)
{
	bool implied = column_is_implied(column);
	const uint64_t *present = image->present[implied ? STORE_GOLD_PROB : column];
	const void *values = lent->values[column] ? lent->values[column] : image->values[column];
	uint64_t any = 0, every = UINT64_MAX;

	if (!(image->columns & STORE_COLUMN_BIT(column)))
		return (struct store_values){0};
	for (uint32_t i = 0; i < rows / 64; i++) {
		any |= present[i];
		every &= present[i];
	}
	if (rows % 64) {
		any |= present[rows / 64];
		every &= present[rows / 64] | UINT64_MAX << rows % 64;
	}
	if (any == 0)
		return (struct store_values){0};
	return (struct store_values){.values = values, .present = present, .complete = every == UINT64_MAX};
}

/* Reads a chunk at block->epoch_count epochs of the snapshot, in the order of its list from place `from` on. */
static int
cursor_read_epochs(struct store_cursor *cursor, uint32_t chunk, size_t from, uint64_t columns,
                   struct store_block *block, struct portolan_error *error)
{
	const struct store_snapshot *snapshot = cursor->snapshot;
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD);
	struct chunk_lent lent;
	int rc = 0;

	columns = store_snapshot_stored(snapshot, columns);
	for (size_t e = 0; e < block->epoch_count && !rc; e++) {
		struct store_values *values = &cursor->values[e * STORE_COLUMN_MAX];

		rc = store_snapshot_load(snapshot, snapshot->epochs[from + e], chunk, columns, &cursor->images[e],
		                         &cursor->lent[e], error);
		for (uint64_t mask = snapshot->held & columns & ~gold; mask && !rc; mask &= mask - 1) {
			unsigned column = mask_first(mask);

			values[column] =
			        cursor_column_values(&cursor->images[e], &cursor->lent[e], column, block->rows);
		}
		if (columns & STORE_COLUMN_BIT(STORE_TASK_LOSS) && snapshot->info.of_losses)
			values[STORE_GOLD_PROB] = values[STORE_TASK_LOSS];
	}
	if (rc || !(snapshot->wanted & columns & gold))
		return rc;
	rc = store_snapshot_load(snapshot, STORE_EPOCH_RUN, chunk, 0, &cursor->examples, &lent, error);
	if (rc)
		return rc;
	block->gold = cursor_column_values(&cursor->examples, &lent, STORE_GOLD, block->rows);
	block->seen = snapshot->info.declared ? cursor->examples.present[STORE_GOLD_PROB] : NULL;
	return 0;
}

/* The chunk of a block, and its rows. */
static int
cursor_find_chunk(const struct store_cursor *cursor, size_t index, uint32_t *chunk, uint32_t *rows,
                  struct portolan_error *error)
{
	const struct store_snapshot *snapshot = cursor->snapshot;

	if (index >= snapshot->blocks)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has %u blocks, not %zu", snapshot->info.name,
		                 snapshot->blocks, index + 1);
	*chunk = snapshot->occupied ? snapshot->occupied[index] : (uint32_t)index;
	*rows = store_chunk_rows(snapshot->rows, *chunk);
	return 0;
}

int
store_cursor_epochs(struct store_cursor *cursor, size_t index, size_t from, size_t count, uint64_t columns,
                    struct store_block *block, struct portolan_error *error)
{
	struct store_block read = {
	        .first = (uint32_t)(index * STORE_CHUNK), .epoch_count = count, .columns = cursor->values};
	uint32_t chunk = 0;
	int rc = cursor_find_chunk(cursor, index, &chunk, &read.rows, error)
	                 ?: cursor_read_epochs(cursor, chunk, from, columns, &read, error);

	if (!rc)
		*block = read;
	return rc;
}

int
store_cursor_block(struct store_cursor *cursor, size_t index, struct store_block *block, struct portolan_error *error)
{
	return store_cursor_epochs(cursor, index, 0, cursor->snapshot->epoch_count, UINT64_MAX, block, error);
}

/* Copies ids of a segment, at most `most`, to the cursor's rows from, from + 1, …. Returns how many; 0: out of
 * memory. */
static uint32_t
cursor_add_segment(struct store_cursor *cursor, const struct ids_segment *segment, uint32_t from, uint32_t most)
{
	uint32_t take = segment->count < most ? segment->count : most;
	size_t used, size;

	if (segment->kind == STORE_ID_INT) {
		memcpy(cursor->integers + from, segment->integers, 8 * (size_t)take);
		return take;
	}
	used = from ? cursor->offsets[from] : 0;
	size = load_u32(segment->offsets + 4 * (size_t)take);
	if (used + size > cursor->text_room) {
		char *more = realloc(cursor->text, 2 * (used + size));

		if (!more)
			return 0;
		cursor->text = more;
		cursor->text_room = 2 * (used + size);
	}
	for (uint32_t i = 0; i <= take; i++)
		cursor->offsets[from + i] = (uint32_t)used + load_u32(segment->offsets + 4 * (size_t)i);
	memcpy(cursor->text + used, segment->text, size);
	return take;
}

static int
cursor_read_ids(struct store_cursor *cursor, uint32_t first, uint32_t rows, struct portolan_error *error)
{
	const struct view *view = &cursor->snapshot->view;
	const struct store_key from = store_key_u32_u32(cursor->snapshot->info.number, first);
	CLEANUP(store_walk_close) struct view_walk walk = {0};

	store_walk_open(&walk, view, DB_IDS, &from, 4, error);
	for (uint32_t have = 0, taken; have < rows; have += taken) {
		struct ids_segment segment;
		uint64_t begin;
		int rc = store_catalog_next_ids(&walk, &begin, &segment, error);

		if (rc == VIEW_ABSENT)
			return store_view_corrupt(view, DB_IDS, from.data, from.size, error);
		if (!rc && (begin != first + have || segment.kind != cursor->snapshot->info.id_kind))
			return store_walk_corrupt(&walk, error);
		if (rc)
			return rc;
		taken = cursor_add_segment(cursor, &segment, have, rows - have);
		if (taken == 0)
			return store_view_no_memory(view, error);
	}
	return 0;
}

int
store_cursor_ids(struct store_cursor *cursor, size_t index, struct store_ids *ids, struct portolan_error *error)
{
	const struct store_run_info *info = &cursor->snapshot->info;
	uint32_t first = (uint32_t)(index * STORE_CHUNK), chunk = 0, rows = 0;
	int rc = cursor_find_chunk(cursor, index, &chunk, &rows, error);

	if (rc)
		return rc;
	if (!cursor->integers)
		cursor->integers = calloc(STORE_CHUNK, sizeof(*cursor->integers));
	if (!cursor->offsets)
		cursor->offsets = calloc(STORE_CHUNK + 1, sizeof(*cursor->offsets));
	if (!cursor->integers || !cursor->offsets)
		return store_view_no_memory(&cursor->snapshot->view, error);
	for (uint32_t row = 0; info->declared && row < rows; row++)
		cursor->integers[row] = (uint64_t)chunk * STORE_CHUNK + row;
	if (!info->declared && (rc = cursor_read_ids(cursor, first, rows, error)) != 0)
		return rc;
	*ids = (struct store_ids){.first = first, .rows = rows};
	if (info->id_kind == STORE_ID_STR) {
		ids->text = cursor->text;
		ids->offsets = cursor->offsets;
	} else {
		ids->integers = cursor->integers;
	}
	return 0;
}
