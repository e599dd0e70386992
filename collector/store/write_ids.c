/*
 * write_ids.c: gives the ids of a batch their indices, and stores those ids that are new.
 *
 * The store holds only `ids`: index → id, appended in the transaction of the batch that brought the ids. The opposite
 * direction, id → index, is a table in memory (dictionary.c), made from `ids` when a run is first written to. In the
 * database it would be a B-tree accessed in random order: in the first epoch of shuffled ids this dirtied a page per
 * new id and made appending twenty times slower (measured). A run with so many examples that the table's memory matters
 * can declare them, and needs no table. All tables together are bounded: a batch whose new ids find no room changes
 * nothing (STORE_E_IDS), and may come again when other tables are gone.
 */
#include "write_ids.h"

#include "ids.h"

#include <stdlib.h>

static int
ids_failed(const struct store_writer *writer, int code, struct portolan_error *error)
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
ids_load(struct store_writer *writer, struct dictionary_table *table, uint64_t rows, struct portolan_error *error)
{
	const struct store_key from = store_key_u32(table->run);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct ids_segment segment;
	uint64_t first;
	int rc = table->room ? 0 : store_dictionary_grow(&writer->dictionary, table, 0);

	table->rows = table->committed = 0;
	if (rc)
		return ids_failed(writer, rc, error);
	store_walk_open(&walk, &writer->view, DB_IDS, &from, from.size, error);
	while ((rc = store_catalog_next_ids(&walk, &first, &segment, error)) == 0) {
		if (first != table->rows || first + segment.count > rows)
			return store_walk_corrupt(&walk, error);
		if (first + segment.count > table->room)
			rc = store_dictionary_grow(&writer->dictionary, table, first + segment.count);
		if (rc)
			return ids_failed(writer, rc, error);
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
ids_get_table(struct store_writer *writer, uint32_t run, uint64_t rows, struct dictionary_table **found,
              struct portolan_error *error)
{
	struct dictionary_table *table = store_dictionary_table(&writer->dictionary, run);
	int rc = 0;

	if (!table)
		return ids_failed(writer, STORE_E_MEMORY, error);
	if (!table->room || table->rows != rows)
		rc = ids_load(writer, table, rows, error);
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
ids_find_string(struct strings *strings, uint32_t row, size_t *length)
{
	const uint8_t *lengths = strings->append->ids;

	for (; strings->row < row; strings->row++)
		strings->at += lengths[strings->row];
	*length = lengths[row];
	return lengths + strings->append->rows + strings->at;
}

/* Finds the ids of some rows, and their hashes, and prefetches what their look-ups will read. */
static void
ids_prepare_rows(const struct dictionary_table *table, struct strings *strings, const uint32_t *rows, uint32_t count,
                 struct dictionary_id *ids, uint64_t *hashes)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strings->append->id_kind == STORE_ID_STR) {
			size_t length;
			const uint8_t *string = ids_find_string(strings, rows[i], &length);

			ids[i] = store_dictionary_hash_string(table, string, length);
		} else {
			ids[i] = (struct dictionary_id){.id = store_append_integer(strings->append, rows[i])};
		}
	}
	store_dictionary_prepare(table, ids, count, hashes);
}

/* Stores the ids of `count` rows in one segment. Their indices are first … first + count − 1. */
static int
ids_put_segment(struct store_writer *writer, uint32_t run, struct strings *strings, const uint32_t *rows,
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
		memset(data, 0, 4); /* where the first one begins */
	for (uint32_t i = 0; i < count; i++) {
		if (append->id_kind == STORE_ID_INT) {
			uint64_t integer = store_append_integer(append, rows[i]);

			memcpy(data + 8 * (size_t)i, &integer, 8);
		} else {
			size_t length;
			const uint8_t *string = ids_find_string(strings, rows[i], &length);

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
ids_put_segments(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *rows,
                 uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct strings strings = {.append = append};
	int rc = 0;

	for (uint32_t done = 0, part; done < count && !rc; done += part) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;

		part = count - done < room ? count - done : room;
		rc = ids_put_segment(writer, run, &strings, rows + done, first + done, part, error);
	}
	return rc;
}

int
store_ids_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                 const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                 struct portolan_error *error)
{
	const uint32_t first = (uint32_t)state->rows;
	uint32_t *fresh = malloc(((size_t)count + 1) * sizeof(*fresh)), fresh_count = 0;
	struct strings strings = {.append = append};
	struct dictionary_table *table = NULL;
	struct dictionary_id ids[DICTIONARY_PREPARED];
	uint64_t hashes[DICTIONARY_PREPARED];
	int rc = fresh ? ids_get_table(writer, run, first, &table, error) : ids_failed(writer, STORE_E_MEMORY, error);

	for (uint32_t i = 0; i < count && !rc; i++) {
		const uint32_t at = i % DICTIONARY_PREPARED;
		const uint64_t rows = table->rows;

		if (at == 0)
			ids_prepare_rows(table, &strings, kept + i,
			                 count - i < DICTIONARY_PREPARED ? count - i : DICTIONARY_PREPARED, ids,
			                 hashes);
		index[i] = IDS_NO_INDEX;
		if (append->id_kind == STORE_ID_STR && ((const uint8_t *)append->ids)[kept[i]] == 0)
			continue;
		rc = store_dictionary_index(&writer->dictionary, table, ids[at], hashes[at], &index[i]);
		if (rc)
			ids_failed(writer, rc, error);
		if (table->rows > rows)
			fresh[fresh_count++] = kept[i];
	}
	if (!rc)
		rc = ids_put_segments(writer, run, append, fresh, first, fresh_count, error);
	if (!rc)
		state->rows += fresh_count;
	else if (table)
		store_dictionary_take_back(table, first);
	free(fresh);
	return rc;
}
