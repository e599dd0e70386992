/*
 * write_ids.c: segments of ids: filing those of a batch, and making them whole.
 *
 * Batches leave a segment each; once an epoch is folded the segments of a chunk become one record, which readers find
 * by one look-up and which fills its pages. Ids never change, so readers see no difference. The last, unfinished chunk
 * is done too, and again when there is more in it.
 */
#include "ids.h"
#include "rows.h"

#include <stdlib.h>

/* Files the ids with indices first … first + count − 1, which are those of `rows`, in one segment. */
static int
put_segment(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *offsets,
            const uint32_t *rows, uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, first);
	struct ids_record head = {.count = count, .kind = (uint32_t)append->id_kind};
	const uint8_t *ids = append->ids;
	size_t length, text = 0;
	uint32_t end = 0;
	uint8_t *record, *data;
	int rc;

	for (uint32_t i = 0; i < count && append->id_kind == STORE_ID_STR; i++)
		text += ids[rows[i]];
	length = store_ids_size(append->id_kind, count, text);
	rc = store_writer_reserve(writer, DB_IDS, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	data = record + RECORD_HEADER + sizeof(head);
	for (uint32_t i = 0; i < count; i++) {
		if (append->id_kind == STORE_ID_INT) {
			uint64_t integer = store_append_integer(append, rows[i]);

			memcpy(data + 8 * (size_t)i, &integer, 8);
		} else {
			memcpy(data + 4 * ((size_t)count + 1) + end, ids + offsets[rows[i]], ids[rows[i]]);
			end += ids[rows[i]];
			memcpy(data + 4 * ((size_t)i + 1), &end, 4);
		}
	}
	store_record_seal(record, RECORD_IDS, length);
	return 0;
}

/* Segments do not cross the border of a chunk, so that a block's ids begin with a segment. */
int
store_ids_file(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *offsets,
               const uint32_t *rows, uint32_t first, uint32_t count, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t done = 0; done < count && !rc;) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;
		uint32_t part = count - done < room ? count - done : room;

		rc = put_segment(writer, run, append, offsets, rows + done, first + done, part, error);
		done += part;
	}
	return rc;
}

struct gathered {
	uint32_t segments, count;
	enum store_id_kind kind;
	uint8_t *ids; /* integers, or text */
	size_t used, room;
	uint32_t *ends; /* STORE_ID_STR: where each string ends */
};

static int
gather(struct gathered *all, const uint8_t *body, size_t size)
{
	struct ids_segment segment;
	const uint8_t *ids;

	if (!store_ids_open(body, size, &segment) || segment.count > STORE_CHUNK - all->count ||
	    (all->segments && segment.kind != all->kind))
		return STORE_E_CORRUPT;
	ids = segment.kind == STORE_ID_STR ? segment.text : segment.integers;
	size = segment.kind == STORE_ID_STR ? segment.text_size : 8 * (size_t)segment.count;
	if (all->used + size > all->room) {
		size_t room = 2 * (all->used + size);
		uint8_t *more = realloc(all->ids, room);

		if (!more)
			return STORE_E_MEMORY;
		all->ids = more;
		all->room = room;
	}
	for (uint32_t i = 0; i < segment.count && segment.kind == STORE_ID_STR; i++)
		all->ends[all->count + i] = (uint32_t)all->used + load_u32(segment.offsets + 4 * ((size_t)i + 1));
	memcpy(all->ids + all->used, ids, size);
	all->used += size;
	all->kind = segment.kind;
	all->count += segment.count;
	all->segments++;
	return 0;
}

static int
put_whole(struct store_writer *writer, uint32_t run, uint32_t first, const struct gathered *all,
          struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, first);
	struct ids_record head = {.count = all->count, .kind = (uint32_t)all->kind};
	size_t offsets = all->kind == STORE_ID_STR ? 4 * ((size_t)all->count + 1) : 0;
	size_t length = store_ids_size(all->kind, all->count, all->used);
	uint8_t *record, *at;
	int rc = store_writer_reserve(writer, DB_IDS, &key, length, &record, error);

	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	at = record + RECORD_HEADER + sizeof(head);
	if (offsets)
		memcpy(at + 4, all->ends, 4 * (size_t)all->count);
	memcpy(at + offsets, all->ids, all->used);
	store_record_seal(record, RECORD_IDS, length);
	return 0;
}

/* Reads the segments from `first` to the end of its chunk; removes them if `remove` is set. */
static int
walk_segments(struct store_writer *writer, uint32_t run, uint32_t first, bool remove, struct gathered *all,
              struct portolan_error *error)
{
	struct store_key from = store_key_u32_u32(run, first);
	struct view_walk walk;
	const uint8_t *body;
	size_t size;
	int rc = store_walk_open(&walk, &writer->view, DB_IDS, &from, 4, error);

	while (!rc && (rc = store_walk_record(&walk, RECORD_IDS, &body, &size, error)) == 0) {
		uint32_t at = walk.key.mv_size == 8 ? store_key_read_u32((const uint8_t *)walk.key.mv_data + 4) : 0;

		if (at >= (uint64_t)first + STORE_CHUNK)
			break;
		if (remove) {
			rc = store_walk_delete(&walk, error);
			continue;
		}
		rc = at == first + all->count ? gather(all, body, size) : STORE_E_CORRUPT;
		if (rc == STORE_E_CORRUPT)
			store_view_corrupt(&writer->view, DB_IDS, walk.key.mv_data, walk.key.mv_size, error);
		else if (rc)
			error_set(error, rc, "store '%s': out of memory", writer->directory);
	}
	store_walk_close(&walk);
	return rc == VIEW_ABSENT ? 0 : rc;
}

/* `full`: every index of the chunk has an id. */
static int
consolidate_chunk(struct store_writer *writer, uint32_t run, uint32_t chunk, bool full, struct portolan_error *error)
{
	struct gathered all = {.ends = malloc(STORE_CHUNK * sizeof(uint32_t))};
	uint32_t first = chunk * STORE_CHUNK;
	int rc = all.ends ? 0 : error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);

	if (!rc)
		rc = walk_segments(writer, run, first, false, &all, error);
	if (!rc && full && all.count != STORE_CHUNK) {
		struct store_key key = store_key_u32_u32(run, first);

		rc = store_view_corrupt(&writer->view, DB_IDS, key.data, key.size, error);
	}
	if (!rc && all.segments > 1) {
		rc = walk_segments(writer, run, first, true, &all, error);
		if (!rc)
			rc = put_whole(writer, run, first, &all, error);
	}
	free(all.ids);
	free(all.ends);
	return rc;
}

int
store_dictionary_consolidate(struct store_writer *writer, uint32_t run, bool *more, struct portolan_error *error)
{
	struct run_state_record state;
	uint32_t chunk;
	bool full;
	int rc = store_catalog_state(&writer->view, run, &state, error);

	*more = false;
	if (rc || state.declared || state.whole_ids >= store_chunks_of(state.rows))
		return rc;
	chunk = state.whole_ids;
	full = state.rows >= (uint64_t)(chunk + 1) * STORE_CHUNK;
	rc = consolidate_chunk(writer, run, chunk, full, error);
	if (rc || !full)
		return rc; /* an unfinished chunk is the last, and stays to be done */
	state.whole_ids++;
	*more = state.whole_ids < store_chunks_of(state.rows);
	return store_writer_put_state(writer, run, &state, error);
}
