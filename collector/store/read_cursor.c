/*
 * read_cursor.c: blocks of values and ids.
 *
 * A call copies what it returns into the cursor's own memory: it has to pass through the checksum anyway, and what the
 * log has is merged into it.
 */
#include "ids.h"
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>

struct store_cursor {
	struct store_snapshot *snapshot;
	struct merge_chunk *images; /* per epoch */
	struct merge_chunk examples;
	struct store_values *values;
	uint64_t *integers;
	char *text;
	uint32_t *offsets;
	size_t text_room;
};

static int
out_of_memory(const struct store_cursor *cursor, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY, "out of memory reading run '%s'", cursor->snapshot->info.name);
}

int
store_cursor_open(struct store_snapshot *snapshot, struct store_cursor **cursor, struct portolan_error *error)
{
	struct store_cursor *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return error_set(error, STORE_E_MEMORY, "out of memory reading run '%s'", snapshot->info.name);
	opened->snapshot = snapshot;
	opened->images = calloc(snapshot->epoch_count + 1, sizeof(*opened->images));
	opened->values = calloc((snapshot->epoch_count + 1) * STORE_COLUMN_MAX, sizeof(*opened->values));
	if (!opened->images || !opened->values) {
		int rc = out_of_memory(opened, error);

		store_cursor_close(opened);
		return rc;
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
	free(cursor->values);
	free(cursor->integers);
	free(cursor->text);
	free(cursor->offsets);
	free(cursor);
}

static struct store_values
expose(const struct merge_chunk *image, unsigned column, uint32_t rows)
{
	bool implied = column_is_implied(column);
	const uint64_t *present = image->present[implied ? STORE_GOLD_PROB : column];
	uint32_t ones = 0;

	if (!(image->columns & STORE_COLUMN_BIT(column)))
		return (struct store_values){0};
	for (uint32_t i = 0; i < (rows + 63) / 64; i++)
		ones += (uint32_t)__builtin_popcountll(present[i]);
	if (ones == 0)
		return (struct store_values){0};
	return (struct store_values){.values = image->values[column], .present = present, .complete = ones == rows};
}

/* One image: the folded chunk, and over it what the log has. */
static int
read_image(const struct store_cursor *cursor, const struct chunk_place *place, struct merge_chunk *image,
           struct portolan_error *error)
{
	const struct store_snapshot *snapshot = cursor->snapshot;
	const struct overlay_part *part = store_overlay_part(&snapshot->overlay, place->epoch);
	uint64_t columns = snapshot->held & ~STORE_COLUMN_BIT(STORE_GOLD);
	bool touched = store_overlay_touches(part, place->chunk);
	int rc = store_merge_reset(image);

	if (touched)
		columns |= STORE_COLUMN_BIT(STORE_SESSION);
	if (rc)
		return out_of_memory(cursor, error);
	rc = store_chunk_load(&snapshot->view, place, columns, image, error);
	if (!rc && touched &&
	    store_overlay_apply(&snapshot->overlay, part, place->chunk, image->merged,
	                        snapshot->wanted | STORE_COLUMN_BIT(STORE_SESSION), snapshot->order, image) < 0)
		rc = out_of_memory(cursor, error);
	return rc;
}

static int
read_block(struct store_cursor *cursor, size_t index, struct store_block *block, struct portolan_error *error)
{
	const struct store_snapshot *snapshot = cursor->snapshot;
	const uint64_t gold = STORE_COLUMN_BIT(STORE_GOLD);
	const uint32_t chunk = store_snapshot_chunk(snapshot, index);
	int rc = 0;

	for (size_t e = 0; e < snapshot->epoch_count && !rc; e++) {
		struct chunk_place place = store_snapshot_place(snapshot, snapshot->epochs[e], chunk);

		rc = read_image(cursor, &place, &cursor->images[e], error);
		for (uint64_t mask = snapshot->held & ~gold; mask && !rc; mask &= mask - 1) {
			unsigned column = mask_first(mask);

			cursor->values[e * STORE_COLUMN_MAX + column] = expose(&cursor->images[e], column, block->rows);
		}
	}
	if (rc || !(snapshot->wanted & gold))
		return rc;
	rc = store_snapshot_examples(snapshot, chunk, &cursor->examples, error);
	if (!rc)
		block->gold = expose(&cursor->examples, STORE_GOLD, block->rows);
	return rc;
}

int
store_cursor_block(struct store_cursor *cursor, size_t index, struct store_block *block, struct portolan_error *error)
{
	struct store_snapshot *snapshot = cursor->snapshot;
	struct store_block read;
	int rc;

	if (index >= snapshot->blocks)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has %u blocks, not %zu", snapshot->info.name,
		                 snapshot->blocks, index + 1);
	read = (struct store_block){.first = (uint32_t)(index * STORE_CHUNK),
	                            .rows = store_snapshot_rows(snapshot, store_snapshot_chunk(snapshot, index)),
	                            .epoch_count = snapshot->epoch_count,
	                            .columns = cursor->values};
	rc = read_block(cursor, index, &read, error);
	if (!rc)
		*block = read;
	return rc;
}

/* Adds the first `take` strings of a segment to the cursor's text, as rows from, from + 1, … */
static int
add_text(struct store_cursor *cursor, uint32_t from, uint32_t take, const struct ids_segment *segment)
{
	size_t used = from ? cursor->offsets[from] : 0, size = load_u32(segment->offsets + 4 * (size_t)take);

	if (used + size > cursor->text_room) {
		size_t room = 2 * (used + size);
		char *more = realloc(cursor->text, room);

		if (!more)
			return STORE_E_MEMORY;
		cursor->text = more;
		cursor->text_room = room;
	}
	for (uint32_t i = 0; i <= take; i++)
		cursor->offsets[from + i] = (uint32_t)used + load_u32(segment->offsets + 4 * (size_t)i);
	memcpy(cursor->text + used, segment->text, size);
	return 0;
}

/* Takes what a segment has of the rows still wanted. */
static int
add_segment(struct store_cursor *cursor, const uint8_t *body, size_t size, uint32_t from, uint32_t rows,
            uint32_t *taken)
{
	struct ids_segment segment;
	uint32_t take;

	if (!store_ids_open(body, size, &segment) || segment.kind != cursor->snapshot->info.id_kind)
		return STORE_E_CORRUPT;
	take = segment.count < rows - from ? segment.count : rows - from;
	*taken = take;
	if (segment.kind == STORE_ID_STR)
		return add_text(cursor, from, take, &segment);
	memcpy(cursor->integers + from, segment.integers, 8 * (size_t)take);
	return 0;
}

static int
read_ids(struct store_cursor *cursor, const struct view *view, uint32_t first, uint32_t rows,
         struct portolan_error *error)
{
	struct store_key from = store_key_u32_u32(cursor->snapshot->info.number, first);
	struct view_walk walk;
	uint32_t have = 0;
	int rc = store_walk_open(&walk, view, DB_IDS, &from, 4, error);

	while (!rc && have < rows) {
		const uint8_t *body;
		size_t size;
		uint32_t taken = 0;

		rc = store_walk_record(&walk, RECORD_IDS, &body, &size, error);
		if (rc == VIEW_ABSENT)
			rc = store_view_corrupt(view, DB_IDS, from.data, from.size, error);
		if (rc)
			break;
		if (walk.key.mv_size != 8 || store_key_read_u32((const uint8_t *)walk.key.mv_data + 4) != first + have)
			rc = STORE_E_CORRUPT;
		else
			rc = add_segment(cursor, body, size, have, rows, &taken);
		if (rc == STORE_E_CORRUPT)
			store_view_corrupt(view, DB_IDS, walk.key.mv_data, walk.key.mv_size, error);
		else if (rc == STORE_E_MEMORY)
			out_of_memory(cursor, error);
		have += taken;
	}
	store_walk_close(&walk);
	return rc;
}

int
store_cursor_ids(struct store_cursor *cursor, size_t index, struct store_ids *ids, struct portolan_error *error)
{
	struct store_snapshot *snapshot = cursor->snapshot;
	uint32_t first = (uint32_t)(index * STORE_CHUNK), chunk, rows;
	int rc = 0;

	if (index >= snapshot->blocks)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has %u blocks, not %zu", snapshot->info.name,
		                 snapshot->blocks, index + 1);
	chunk = store_snapshot_chunk(snapshot, index);
	rows = store_snapshot_rows(snapshot, chunk);
	if (!cursor->integers)
		cursor->integers = calloc(STORE_CHUNK, sizeof(*cursor->integers));
	if (!cursor->offsets)
		cursor->offsets = calloc(STORE_CHUNK + 1, sizeof(*cursor->offsets));
	if (!cursor->integers || !cursor->offsets)
		return out_of_memory(cursor, error);
	if (snapshot->info.declared) {
		for (uint32_t row = 0; row < rows; row++)
			cursor->integers[row] = (uint64_t)chunk * STORE_CHUNK + row;
	} else {
		rc = read_ids(cursor, &snapshot->view, first, rows, error);
	}
	if (rc)
		return rc;
	*ids = (struct store_ids){.first = first, .rows = rows};
	if (snapshot->info.id_kind == STORE_ID_STR) {
		ids->text = cursor->text;
		ids->offsets = cursor->offsets;
	} else {
		ids->integers = cursor->integers;
	}
	return 0;
}
