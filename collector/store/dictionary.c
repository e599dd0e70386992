/*
 * dictionary.c: gives ids their indices.
 *
 * The store holds only `ids`: index → id, appended in the transaction of the batch that brought the ids. The opposite
 * direction, id → index, is a table in memory, made from `ids` when a run is first written to. In the database it would
 * be a B-tree accessed in random order: in the first epoch of shuffled ids this dirtied a page per new id and made
 * appending twenty times slower (measured). A run with so many examples that the table's memory matters can declare
 * them, and needs no table. All tables together are bounded: a batch whose new ids find no room changes nothing
 * (STORE_E_IDS), and may come again when other tables are gone.
 *
 * A table is an array of the ids by their index, and slots with open addressing, of which at most three quarters are in
 * use. A slot holds an index in its low bits, as many as the table's indices need, and bits of the id's hash in the
 * others, so that a look-up seldom compares another id. The slots can be made anew from the array, so growth needs no
 * second table, and a table takes 17 to 26 bytes per id. Making them anew stops the writer for some 0.3 s where a run
 * has 10 million ids.
 *
 * Tables follow the pending transaction. The indices given last can be taken back by emptying their slots, since no
 * earlier id was placed behind them.
 */
#include "dictionary.h"

#include "ids.h"
#include "rows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define FREE UINT32_MAX /* a slot */
#define PREPARED 32     /* look-ups under way at once */
#define ROOM_LEAST 64   /* ids */
#define HUGE_PAGE ((size_t)2 << 20)
/* Where all tables together take more than KEEP_BYTES, the tables of runs that had no batch for KEEP_SECONDS are dropped.
 * A run that goes on recording has to read its ids again. */
#define KEEP_BYTES ((size_t)256 << 20)
#define KEEP_SECONDS 60

/* Takes the table out of the list that `link` is part of. */
static void
dictionary_drop_table(struct dictionary_table **link)
{
	struct dictionary_table *table = *link;

	*link = table->next;
	free(table->ids);
	free(table);
}

/* Uses all bits of an id: ids that differ only in high bits, or only in low bits, are common. */
static uint64_t
dictionary_hash_id(const struct dictionary_table *table, struct dictionary_id id)
{
	uint64_t mixed = id.id ^ id.more ^ table->seed;

	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);
	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return mixed ^ mixed >> 33;
}

/* The slot where a search begins. */
static uint32_t *
dictionary_home_of(const struct dictionary_table *table, uint64_t hash)
{
	return &table->slots[(unsigned __int128)hash * table->slot_count >> 64];
}

/* The mask of a slot's bits that hold an index. Every index is less than the mask. */
static uint32_t
dictionary_index_mask(const struct dictionary_table *table)
{
	return UINT32_MAX >> __builtin_clz((uint32_t)table->room);
}

/* The slot that holds the index of an id, or the free slot for it. */
static uint32_t *
dictionary_find_slot(const struct dictionary_table *table, struct dictionary_id id, uint64_t hash)
{
	const uint32_t mask = dictionary_index_mask(table), rest = (uint32_t)hash & ~mask;
	uint32_t *slot = dictionary_home_of(table, hash);

	for (; *slot != FREE; slot = slot + 1 < table->slots + table->slot_count ? slot + 1 : table->slots) {
		const struct dictionary_id *other = &table->ids[*slot & mask];

		if ((*slot & ~mask) == rest && other->id == id.id && other->more == id.more)
			break;
	}
	return slot;
}

/* Computes the hashes of some ids and prefetches their slots, so that the look-ups need not wait for memory. */
static void
dictionary_prefetch(const struct dictionary_table *table, const struct dictionary_id *ids, uint32_t count,
                    uint64_t *hashes)
{
	for (uint32_t i = 0; i < count; i++) {
		hashes[i] = dictionary_hash_id(table, ids[i]);
		__builtin_prefetch(dictionary_home_of(table, hashes[i]));
	}
}

static void
dictionary_fill_slots(struct dictionary_table *table)
{
	const uint32_t mask = dictionary_index_mask(table);
	uint64_t hashes[PREPARED];

	memset(table->slots, 0xff, table->slot_count * sizeof(*table->slots));
	for (uint64_t i = 0; i < table->rows; i++) {
		uint32_t at = i % PREPARED, *slot;

		if (at == 0)
			dictionary_prefetch(table, table->ids + i,
			                    table->rows - i < PREPARED ? (uint32_t)(table->rows - i) : PREPARED,
			                    hashes);
		slot = dictionary_find_slot(table, table->ids[i], hashes[at]);
		if (*slot == FREE)
			*slot = ((uint32_t)hashes[at] & ~mask) | (uint32_t)i;
	}
}

/* Takes back the indices from `rows` on. */
static void
dictionary_take_back(struct dictionary_table *table, uint64_t rows)
{
	while (table->rows > rows) {
		struct dictionary_id id = table->ids[--table->rows];
		uint32_t *slot = dictionary_find_slot(table, id, dictionary_hash_id(table, id));

		if ((*slot & dictionary_index_mask(table)) == table->rows)
			*slot = FREE;
	}
}

int
store_dictionary_init(struct dictionary *dictionary)
{
	*dictionary = (struct dictionary){0};
	return getrandom(&dictionary->seed, sizeof(dictionary->seed), 0) == sizeof(dictionary->seed) ? 0
	                                                                                             : STORE_E_SYSTEM;
}

void
store_dictionary_committed(struct dictionary *dictionary)
{
	for (struct dictionary_table *table = dictionary->tables; table; table = table->next)
		table->committed = table->rows;
}

void
store_dictionary_aborted(struct dictionary *dictionary)
{
	struct dictionary_table **link = &dictionary->tables;

	while (*link) {
		if ((*link)->committed == 0) { /* or it was made in this transaction: it is made again when needed */
			dictionary_drop_table(link);
			continue;
		}
		dictionary_take_back(*link, (*link)->committed);
		link = &(*link)->next;
	}
}

void
store_dictionary_free(struct dictionary *dictionary)
{
	while (dictionary->tables)
		dictionary_drop_table(&dictionary->tables);
}

static int
dictionary_out_of_memory(const struct store_writer *writer, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY,
	                 "store '%s': out of memory for the ids of a run; runs that declare their examples need none",
	                 writer->directory);
}

void
store_writer_limit_ids(struct store_writer *writer, size_t bytes)
{
	writer->dictionary.limit = bytes;
}

/* May tables take so many more bytes? Drops tables without recent batches that do not fit beside the more recently used
 * ones. */
static bool
dictionary_make_place(struct dictionary *dictionary, size_t more, int64_t now)
{
	const size_t limit = dictionary->limit, most = limit && limit < KEEP_BYTES ? limit : KEEP_BYTES;
	struct dictionary_table **link = &dictionary->tables;
	size_t bytes = more;

	while (*link) {
		bytes += (*link)->bytes;
		if (bytes > most && now - (*link)->used_at > KEEP_SECONDS) {
			bytes -= (*link)->bytes;
			dictionary_drop_table(link);
		} else {
			link = &(*link)->next;
		}
	}
	return !limit || bytes <= limit;
}

/* Makes room for `rows` ids at least: the table grows by half, or by an eighth if the limit allows no more. The caller
 * fills the slots anew. */
static int
dictionary_grow(struct store_writer *writer, struct dictionary_table *table, uint64_t rows,
                struct portolan_error *error)
{
	uint64_t step = table->room ? table->room / 2 : ROOM_LEAST, room, slot_count;
	struct dictionary_id *ids;
	size_t bytes;

	for (;; step /= 2) {
		room = table->room + step < rows ? rows : table->room + step;
		room = room < STORE_MAX_EXAMPLES ? room : STORE_MAX_EXAMPLES;
		slot_count = room + room / 3 + 1;
		bytes = room * sizeof(*ids) + slot_count * sizeof(*table->slots);
		if (dictionary_make_place(&writer->dictionary, bytes - table->bytes, table->used_at))
			break;
		if (step <= table->room / 8)
			return error_set(error, STORE_E_IDS,
			                 "the collector's memory for ids is used up (%zu MB): declare examples=N, or "
			                 "start portoland with a larger --max-memory",
			                 writer->dictionary.limit >> 20);
	}
	ids = realloc(table->ids, bytes);
	if (!ids)
		return dictionary_out_of_memory(writer, error);
	if (bytes >= 2 * HUGE_PAGE) { /* nearly every look-up is in another page */
		size_t before = -(uintptr_t)ids % HUGE_PAGE;

		madvise((uint8_t *)ids + before, bytes - before, MADV_HUGEPAGE);
	}
	table->ids = ids;
	table->slots = (uint32_t *)(ids + room);
	table->room = room;
	table->slot_count = slot_count;
	table->bytes = bytes;
	return 0;
}

static struct dictionary_id
dictionary_hash_string(const struct dictionary_table *table, const uint8_t *data, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, table->seed);

	return (struct dictionary_id){.id = hash.low64, .more = (uint32_t)hash.high64};
}

/* Fills the table from the segments of ids, which must cover the indices without a gap. */
static int
dictionary_load(struct store_writer *writer, struct dictionary_table *table, uint64_t rows,
                struct portolan_error *error)
{
	const struct store_key from = store_key_u32(table->run);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct ids_segment segment;
	uint64_t first;
	int rc = table->room ? 0 : dictionary_grow(writer, table, 0, error);

	table->rows = table->committed = 0;
	if (rc)
		return rc;
	store_walk_open(&walk, &writer->view, DB_IDS, &from, from.size, error);
	while ((rc = store_catalog_next_ids(&walk, &first, &segment, error)) == 0) {
		if (first != table->rows || first + segment.count > rows)
			return store_walk_corrupt(&walk, error);
		if (first + segment.count > table->room)
			rc = dictionary_grow(writer, table, first + segment.count, error);
		if (rc)
			return rc;
		for (uint32_t i = 0; i < segment.count; i++) {
			struct dictionary_id *id = &table->ids[table->rows++];

			if (segment.kind == STORE_ID_STR) {
				size_t length;
				const uint8_t *string = store_ids_string(&segment, i, &length);

				*id = dictionary_hash_string(table, string, length);
			} else {
				*id = (struct dictionary_id){.id = store_ids_integer(&segment, i)};
			}
		}
	}
	if (rc != VIEW_ABSENT)
		return rc;
	if (table->rows != rows)
		return store_view_corrupt(&writer->view, DB_IDS, from.data, from.size, error);
	dictionary_fill_slots(table);
	return 0;
}

/* Finds the table of a run, or makes it. */
static int
dictionary_get_table(struct store_writer *writer, uint32_t run, uint64_t rows, struct dictionary_table **found,
                     struct portolan_error *error)
{
	struct dictionary *dictionary = &writer->dictionary;
	struct dictionary_table **link = &dictionary->tables, *table;
	struct timespec now;
	int rc = 0;

	while (*link && (*link)->run != run)
		link = &(*link)->next;
	table = *link;
	if (table) {
		*link = table->next;
	} else {
		table = calloc(1, sizeof(*table));
		if (!table)
			return dictionary_out_of_memory(writer, error);
		table->run = run;
		table->seed = dictionary->seed;
	}
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	table->used_at = now.tv_sec;
	table->next = dictionary->tables;
	dictionary->tables = table;
	if (!table->room || table->rows != rows)
		rc = dictionary_load(writer, table, rows, error);
	if (rc)
		dictionary_drop_table(&dictionary->tables);
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
dictionary_find_string(struct strings *strings, uint32_t row, size_t *length)
{
	const uint8_t *lengths = strings->append->ids;

	for (; strings->row < row; strings->row++)
		strings->at += lengths[strings->row];
	*length = lengths[row];
	return lengths + strings->append->rows + strings->at;
}

/* Finds the ids of some rows, and their hashes. Prefetches the table's ids that a look-up will compare with these. */
static void
dictionary_prepare_rows(const struct dictionary_table *table, struct strings *strings, const uint32_t *rows,
                        uint32_t count, struct dictionary_id *ids, uint64_t *hashes)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strings->append->id_kind == STORE_ID_STR) {
			size_t length;
			const uint8_t *string = dictionary_find_string(strings, rows[i], &length);

			ids[i] = dictionary_hash_string(table, string, length);
		} else {
			ids[i] = (struct dictionary_id){.id = store_append_integer(strings->append, rows[i])};
		}
	}
	dictionary_prefetch(table, ids, count, hashes);
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(&table->ids[*dictionary_home_of(table, hashes[i]) & dictionary_index_mask(table)]);
}

/* Sets *index to the id's index, giving it one if it has none. If no index is left, *index stays as it is. */
static int
dictionary_get_index(struct store_writer *writer, struct dictionary_table *table, struct dictionary_id id,
                     uint64_t hash, uint32_t *index, struct portolan_error *error)
{
	uint32_t *slot = dictionary_find_slot(table, id, hash);
	int rc;

	if (*slot == FREE && table->rows == STORE_MAX_EXAMPLES)
		return 0;
	if (*slot == FREE && table->rows == table->room) {
		rc = dictionary_grow(writer, table, table->rows + 1, error);
		if (rc)
			return rc;
		dictionary_fill_slots(table);
		slot = dictionary_find_slot(table, id, hash);
	}
	if (*slot == FREE) {
		*slot = ((uint32_t)hash & ~dictionary_index_mask(table)) | (uint32_t)table->rows;
		table->ids[table->rows++] = id;
	}
	*index = *slot & dictionary_index_mask(table);
	return 0;
}

/* Stores the ids of `count` rows in one segment. Their indices are first … first + count − 1. */
static int
dictionary_put_segment(struct store_writer *writer, uint32_t run, struct strings *strings, const uint32_t *rows,
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
			const uint8_t *string = dictionary_find_string(strings, rows[i], &length);

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
dictionary_put_segments(struct store_writer *writer, uint32_t run, const struct store_append *append,
                        const uint32_t *rows, uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct strings strings = {.append = append};
	int rc = 0;

	for (uint32_t done = 0, part; done < count && !rc; done += part) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;

		part = count - done < room ? count - done : room;
		rc = dictionary_put_segment(writer, run, &strings, rows + done, first + done, part, error);
	}
	return rc;
}

int
store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                        const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                        struct portolan_error *error)
{
	const uint32_t first = (uint32_t)state->rows;
	uint32_t *fresh = malloc(((size_t)count + 1) * sizeof(*fresh)), fresh_count = 0;
	struct strings strings = {.append = append};
	struct dictionary_table *table = NULL;
	struct dictionary_id ids[PREPARED];
	uint64_t hashes[PREPARED];
	int rc = fresh ? dictionary_get_table(writer, run, first, &table, error)
	               : dictionary_out_of_memory(writer, error);

	for (uint32_t i = 0; i < count && !rc; i++) {
		const uint32_t at = i % PREPARED;
		const uint64_t rows = table->rows;

		if (at == 0)
			dictionary_prepare_rows(table, &strings, kept + i, count - i < PREPARED ? count - i : PREPARED,
			                        ids, hashes);
		index[i] = DICTIONARY_NO_INDEX;
		if (append->id_kind == STORE_ID_STR && ((const uint8_t *)append->ids)[kept[i]] == 0)
			continue;
		rc = dictionary_get_index(writer, table, ids[at], hashes[at], &index[i], error);
		if (table->rows > rows)
			fresh[fresh_count++] = kept[i];
	}
	if (!rc)
		rc = dictionary_put_segments(writer, run, append, fresh, first, fresh_count, error);
	if (!rc)
		state->rows += fresh_count;
	else if (table)
		dictionary_take_back(table, first);
	free(fresh);
	return rc;
}
