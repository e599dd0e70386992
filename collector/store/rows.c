/*
 * rows.c: chooses which rows of a client's batch will be stored and which are refused (a bad value, an id that is not
 * allowed). For a row to store it finds the index of its example, or gives it one.
 *
 * The store holds only `ids`: index → id, appended in the transaction of the batch that brought the ids. The opposite
 * direction, id → index, is a table in memory (dictionary.c), made from `ids` when a run is first written to. In the
 * database it would be a B-tree accessed in random order: in the first epoch of shuffled ids this dirtied a page per
 * new id and made appending twenty times slower (measured). A run with so many examples that the table's memory matters
 * can declare them, and needs no table. All tables together are bounded: a batch whose new ids find no room changes
 * nothing (STORE_E_IDS), and may come again when other tables are gone.
 */
#include "rows.h"

#include "ids.h"

#include <portolan/widths.h>

#include <stdlib.h>

#define NO_INDEX UINT32_MAX

/* One integer id of the batch. */
static uint64_t
rows_integer_at(const struct store_append *append, uint32_t row)
{
	const uint8_t *ids = append->ids;

	return append->id_size == 4 ? load_u32(ids + 4 * (size_t)row) : load_u64(ids + 8 * (size_t)row);
}

static int
rows_ids_failed(const struct store_writer *writer, int code, struct portolan_error *error)
{
	if (code == STORE_E_IDS)
		return error_set(error, code,
		                 "the collector's memory for ids is used up (%zu MB): declare examples=N, or start "
		                 "portoland with a larger --max-memory",
		                 writer->dictionary.limit >> 20);
	return error_set(error, code,
	                 "store '%s': out of memory for the ids of a run; runs that declare their examples need none",
	                 writer->directory);
}

/* Fills the table from the segments of ids, which must cover the indices without a gap. */
static int
rows_load_ids(struct store_writer *writer, struct dictionary_table *table, uint64_t rows, struct portolan_error *error)
{
	const struct store_key from = store_key_u32(table->run);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct ids_segment segment;
	uint64_t first;
	int rc = table->room ? 0 : store_dictionary_grow(&writer->dictionary, table, 0);

	table->rows = table->committed = 0;
	if (rc)
		return rows_ids_failed(writer, rc, error);
	store_walk_open(&walk, &writer->view, DB_IDS, &from, from.size, error);
	while ((rc = store_catalog_next_ids(&walk, &first, &segment, error)) == 0) {
		if (first != table->rows || first + segment.count > rows)
			return store_walk_corrupt(&walk, error);
		if (first + segment.count > table->room)
			rc = store_dictionary_grow(&writer->dictionary, table, first + segment.count);
		if (rc)
			return rows_ids_failed(writer, rc, error);
		for (uint32_t i = 0; i < segment.count; i++) {
			struct dictionary_id *id = &table->ids[table->rows++];

			if (segment.kind == STORE_ID_STR) {
				size_t length;
				const uint8_t *string = store_ids_string(&segment, i, &length);

				*id = store_dictionary_hash_string(table, string, length);
			} else {
				*id = (struct dictionary_id){.id = store_ids_integer(&segment, i)};
			}
		}
	}
	if (rc != VIEW_ABSENT)
		return rc;
	if (table->rows != rows)
		return store_view_corrupt(&writer->view, DB_IDS, from.data, from.size, error);
	store_dictionary_fill(table);
	return 0;
}

/* Finds the table of a run, or makes it. */
static int
rows_get_table(struct store_writer *writer, uint32_t run, uint64_t rows, struct dictionary_table **found,
               struct portolan_error *error)
{
	struct dictionary_table *table = store_dictionary_table(&writer->dictionary, run);
	int rc = 0;

	if (!table)
		return rows_ids_failed(writer, STORE_E_MEMORY, error);
	if (!table->room || table->rows != rows)
		rc = rows_load_ids(writer, table, rows, error);
	if (rc)
		store_dictionary_drop_first(&writer->dictionary);
	else
		*found = table;
	return rc;
}

/* Reads the strings of a batch one after another: all lengths come first, then the text. */
struct strings {
	const struct store_append *append;
	uint32_t row;
	size_t at;
};

static const uint8_t *
rows_find_string(struct strings *strings, uint32_t row, size_t *length)
{
	const uint8_t *lengths = strings->append->ids;

	for (; strings->row < row; strings->row++)
		strings->at += lengths[strings->row];
	*length = lengths[row];
	return lengths + strings->append->rows + strings->at;
}

/* Finds what stands for the ids of some rows. */
static void
rows_find_ids(const struct dictionary_table *table, struct strings *strings, const uint32_t *rows, uint32_t count,
              struct dictionary_id *ids)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strings->append->id_kind == STORE_ID_STR) {
			size_t length;
			const uint8_t *string = rows_find_string(strings, rows[i], &length);

			ids[i] = store_dictionary_hash_string(table, string, length);
		} else {
			ids[i] = (struct dictionary_id){.id = rows_integer_at(strings->append, rows[i])};
		}
	}
}

/* Stores the ids of `count` rows in one segment. Their indices are first … first + count − 1. */
static int
rows_put_segment(struct store_writer *writer, uint32_t run, struct strings *strings, const uint32_t *rows,
                 uint32_t first, uint32_t count, struct portolan_error *error)
{
	const struct store_append *append = strings->append;
	const struct ids_record head = {.count = count, .kind = (uint32_t)append->id_kind};
	struct store_key key = store_key_u32_u32(run, first);
	size_t size, text = 0;
	uint32_t end = 0;
	uint8_t *record, *data;
	int rc;

	for (uint32_t i = 0; i < count && append->id_kind == STORE_ID_STR; i++)
		text += ((const uint8_t *)append->ids)[rows[i]];
	size = store_ids_size(append->id_kind, count, text);
	rc = store_writer_reserve(writer, DB_IDS, &key, size, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	data = record + RECORD_HEADER + sizeof(head);
	if (append->id_kind == STORE_ID_STR)
		memset(data, 0, 4); /* the first string begins at 0 */
	for (uint32_t i = 0; i < count; i++) {
		if (append->id_kind == STORE_ID_INT) {
			uint64_t integer = rows_integer_at(append, rows[i]);

			memcpy(data + 8 * (size_t)i, &integer, 8);
		} else {
			size_t length;
			const uint8_t *string = rows_find_string(strings, rows[i], &length);

			memcpy(data + 4 * ((size_t)count + 1) + end, string, length);
			end += (uint32_t)length;
			memcpy(data + 4 * ((size_t)i + 1), &end, 4);
		}
	}
	store_record_seal(record, &key, RECORD_IDS, size);
	return 0;
}

/* Segments do not cross the border of a chunk, so that a block's ids begin with a segment. */
static int
rows_put_segments(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *rows,
                  uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct strings strings = {.append = append};
	int rc = 0;

	for (uint32_t done = 0, part; done < count && !rc; done += part) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;

		part = count - done < room ? count - done : room;
		rc = rows_put_segment(writer, run, &strings, rows + done, first + done, part, error);
	}
	return rc;
}

/* The new ids of a batch: their rows. */
struct fresh {
	uint32_t *rows, count;
};

/* Sets index[i] to the index of the id in row kept[i], for i < count ≤ DICTIONARY_PREPARED. */
static int
rows_look_up(struct store_writer *writer, struct dictionary_table *table, struct strings *strings, const uint32_t *kept,
             uint32_t count, uint32_t *index, struct fresh *fresh)
{
	const struct store_append *append = strings->append;
	struct dictionary_id ids[DICTIONARY_PREPARED];
	uint64_t hashes[DICTIONARY_PREPARED];
	int rc = 0;

	rows_find_ids(table, strings, kept, count, ids);
	if (store_dictionary_follow(table, ids, count, index))
		return 0;
	store_dictionary_prepare(table, ids, count, hashes);
	for (uint32_t i = 0; i < count && !rc; i++) {
		const uint64_t rows = table->rows;

		index[i] = NO_INDEX;
		if (append->id_kind == STORE_ID_STR && ((const uint8_t *)append->ids)[kept[i]] == 0)
			continue;
		rc = store_dictionary_index(&writer->dictionary, table, ids[i], hashes[i], &index[i]);
		if (table->rows > rows)
			fresh->rows[fresh->count++] = kept[i];
	}
	return rc;
}

/* Sets index[i] to the index of the id in row kept[i], for i < count. New ids get the next indices and are stored
 * (state->rows is increased; the caller stores the state). `kept` ascends. NO_INDEX: an empty string, or no index is
 * left. STORE_E_IDS: there is no room for the new ones, and nothing has changed. */
static int
rows_assign_indices(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                    const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                    struct portolan_error *error)
{
	const uint32_t first = (uint32_t)state->rows;
	struct fresh fresh = {.rows = malloc(((size_t)count + 1) * sizeof(*fresh.rows))};
	struct strings strings = {.append = append};
	struct dictionary_table *table = NULL;
	int rc = fresh.rows ? rows_get_table(writer, run, first, &table, error)
	                    : rows_ids_failed(writer, STORE_E_MEMORY, error);

	for (uint32_t i = 0, part; i < count && !rc; i += part) {
		part = count - i < DICTIONARY_PREPARED ? count - i : DICTIONARY_PREPARED;
		rc = rows_look_up(writer, table, &strings, kept + i, part, index + i, &fresh);
		if (rc)
			rows_ids_failed(writer, rc, error);
	}
	if (!rc)
		rc = rows_put_segments(writer, run, append, fresh.rows, first, fresh.count, error);
	if (!rc)
		state->rows += fresh.count;
	else if (table)
		store_dictionary_take_back(table, first);
	free(fresh.rows);
	return rc;
}

/* Where a run declares its examples, their ids are their indices: copies those of a whole batch. False: an id is not
 * below the declared number. */
FOR_EACH_WIDTH static bool
rows_copy_declared(const struct store_append *append, uint64_t declared, uint32_t *index)
{
	const uint32_t last = declared > UINT32_MAX ? UINT32_MAX : (uint32_t)declared - 1;
	const uint8_t *ids = append->ids;
	uint32_t beyond = 0, highest = 0; /* beyond: the upper halves of all ids together */

	if (append->id_size == 4)
		memcpy(index, ids, 4 * (size_t)append->rows);
	for (uint32_t row = 0; row < append->rows && append->id_size != 4; row++) {
		const uint64_t id = load_u64(ids + 8 * (size_t)row);

		index[row] = (uint32_t)id;
		beyond |= (uint32_t)(id >> 32);
	}
	for (uint32_t row = 0; row < append->rows; row++)
		highest = index[row] > highest ? index[row] : highest;
	return !beyond && highest <= last;
}

static int
rows_make_room(struct store_writer *writer, uint32_t rows, struct portolan_error *error)
{
	uint32_t *index, *kept;

	if (rows <= writer->row_room)
		return 0;
	index = realloc(writer->index, rows * sizeof(*index));
	writer->index = index ? index : writer->index;
	kept = realloc(writer->kept, rows * sizeof(*kept));
	writer->kept = kept ? kept : writer->kept;
	if (!index || !kept)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);
	writer->row_room = rows;
	return 0;
}

int
store_rows_choose(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                  const struct store_append *append, const struct append_columns *columns, uint32_t *count,
                  uint64_t refused[STORE_REFUSALS], struct portolan_error *error)
{
	uint32_t *kept, *index, good, n = 0;
	int rc = rows_make_room(writer, append->rows, error);
	bool all;

	if (rc)
		return rc;
	kept = writer->kept;
	index = writer->index;
	good = store_rows_check(columns, append->rows, kept, &all, refused);
	*count = good;
	if (all && state->declared && rows_copy_declared(append, state->declared, index))
		return 0;
	for (uint32_t row = 0; row < append->rows && all; row++)
		kept[row] = row;
	if (!state->declared) {
		rc = rows_assign_indices(writer, run, state, append, kept, good, index, error);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < good; i++) {
		uint64_t id = state->declared ? rows_integer_at(append, kept[i]) : 0;

		if (state->declared)
			index[i] = id < state->declared ? (uint32_t)id : NO_INDEX;
		kept[n] = kept[i];
		index[n] = index[i];
		n += index[n] != NO_INDEX;
	}
	refused[STORE_REFUSED_ID] += good - n;
	*count = n;
	return 0;
}

void
store_rows_fill(uint8_t *to, const uint8_t *from, unsigned column, const uint32_t *kept, uint32_t count, uint32_t rows)
{
	if (count == rows) {
		memcpy(to, from, column_bytes(column, rows));
		if (column_is_bits(column) && rows % 8) /* the last byte may have bits beyond the rows */
			to[rows / 8] &= (uint8_t)((1u << (rows % 8)) - 1);
		return;
	}
	if (column_is_bits(column))
		memset(to, 0, column_bytes(column, count));
	for (uint32_t i = 0; i < count; i++) {
		if (column_is_bits(column))
			to[i / 8] |= (uint8_t)((from[kept[i] / 8] >> (kept[i] % 8) & 1) << (i % 8));
		else
			memcpy(to + 4 * (size_t)i, from + 4 * (size_t)kept[i], 4);
	}
}
