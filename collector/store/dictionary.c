/*
 * dictionary.c: gives each id of the users an index, for the writer: for each run that is written to, it keeps in
 * memory a table from ids to indices 0, 1, 2, … in the order of their first appearance.
 *
 * A table is an array of the ids by their index, and slots with open addressing, of which at most three quarters are in
 * use. A slot holds an index in its low bits, as many as the table's indices need, and bits of the id's hash in the
 * others, so that a look-up seldom compares another id. The slots can be made anew from the array, so growth needs no
 * second table, and a table takes 17 to 26 bytes per id. Making them anew stops the writer for some 0.3 s where a run
 * has 10 million ids. Ids that come in the order of their indices are found in the array, without the slots.
 *
 * Where the pending transaction is aborted, the indices that it gave are taken back. Emptying their slots is enough: no
 * earlier id was placed behind them.
 */
#include "dictionary.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define FREE UINT32_MAX /* a slot that holds no index */
#define ROOM_LEAST 64   /* ids */
#define HUGE_PAGE ((size_t)2 << 20)
/* Where all tables together take more than KEEP_BYTES, the tables of runs that had no batch for KEEP_SECONDS are
 * dropped. If such a run goes on recording, its table is made again from the ids in the store. */
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

void
store_dictionary_prepare(const struct dictionary_table *table, const struct dictionary_id *ids, uint32_t count,
                         uint64_t *hashes)
{
	dictionary_prefetch(table, ids, count, hashes);
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(&table->ids[*dictionary_home_of(table, hashes[i]) & dictionary_index_mask(table)]);
}

bool
store_dictionary_follow(struct dictionary_table *table, const struct dictionary_id *ids, uint32_t count,
                        uint32_t *index)
{
	const uint64_t after = table->after;

	if (after + count > table->rows || memcmp(table->ids + after, ids, count * sizeof(*ids)) != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		index[i] = (uint32_t)after + i;
	table->after = after + count;
	return true;
}

void
store_dictionary_fill(struct dictionary_table *table)
{
	const uint32_t mask = dictionary_index_mask(table);
	uint64_t hashes[DICTIONARY_PREPARED];

	memset(table->slots, 0xff, table->slot_count * sizeof(*table->slots));
	for (uint64_t i = 0; i < table->rows; i++) {
		uint32_t at = i % DICTIONARY_PREPARED, *slot;

		if (at == 0)
			dictionary_prefetch(table, table->ids + i,
			                    table->rows - i < DICTIONARY_PREPARED ? (uint32_t)(table->rows - i)
			                                                          : DICTIONARY_PREPARED,
			                    hashes);
		slot = dictionary_find_slot(table, table->ids[i], hashes[at]);
		if (*slot == FREE)
			*slot = ((uint32_t)hashes[at] & ~mask) | (uint32_t)i;
	}
}

void
store_dictionary_take_back(struct dictionary_table *table, uint64_t rows)
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
		store_dictionary_take_back(*link, (*link)->committed);
		link = &(*link)->next;
	}
}

void
store_dictionary_free(struct dictionary *dictionary)
{
	while (dictionary->tables)
		dictionary_drop_table(&dictionary->tables);
}

/* Is there room for `more` bytes of tables? Where there is not, first drops tables that had no batch recently and do
 * not fit beside those used more recently. */
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

int
store_dictionary_grow(struct dictionary *dictionary, struct dictionary_table *table, uint64_t rows)
{
	uint64_t step = table->room ? table->room / 2 : ROOM_LEAST, room, slot_count;
	struct dictionary_id *ids;
	size_t bytes;

	for (;; step /= 2) {
		room = table->room + step < rows ? rows : table->room + step;
		room = room < STORE_MAX_EXAMPLES ? room : STORE_MAX_EXAMPLES;
		slot_count = room + room / 3 + 1;
		bytes = room * sizeof(*ids) + slot_count * sizeof(*table->slots);
		if (dictionary_make_place(dictionary, bytes - table->bytes, table->used_at))
			break;
		if (step <= table->room / 8)
			return STORE_E_IDS;
	}
	ids = realloc(table->ids, bytes);
	if (!ids)
		return STORE_E_MEMORY;
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

struct dictionary_table *
store_dictionary_table(struct dictionary *dictionary, uint32_t run)
{
	struct dictionary_table **link = &dictionary->tables, *table;
	struct timespec now;

	while (*link && (*link)->run != run)
		link = &(*link)->next;
	table = *link;
	if (table) {
		*link = table->next;
	} else {
		table = calloc(1, sizeof(*table));
		if (!table)
			return NULL;
		table->run = run;
		table->seed = dictionary->seed;
	}
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	table->used_at = now.tv_sec;
	table->next = dictionary->tables;
	dictionary->tables = table;
	return table;
}

void
store_dictionary_drop_first(struct dictionary *dictionary)
{
	dictionary_drop_table(&dictionary->tables);
}

struct dictionary_id
store_dictionary_hash_string(const struct dictionary_table *table, const uint8_t *data, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, table->seed);

	return (struct dictionary_id){.id = hash.low64, .more = (uint32_t)hash.high64};
}

int
store_dictionary_index(struct dictionary *dictionary, struct dictionary_table *table, struct dictionary_id id,
                       uint64_t hash, uint32_t *index)
{
	uint32_t *slot = dictionary_find_slot(table, id, hash);
	int rc;

	if (*slot == FREE && table->rows == STORE_MAX_EXAMPLES)
		return 0;
	if (*slot == FREE && table->rows == table->room) {
		rc = store_dictionary_grow(dictionary, table, table->rows + 1);
		if (rc)
			return rc;
		store_dictionary_fill(table);
		slot = dictionary_find_slot(table, id, hash);
	}
	if (*slot == FREE) {
		*slot = ((uint32_t)hash & ~dictionary_index_mask(table)) | (uint32_t)table->rows;
		table->ids[table->rows++] = id;
	}
	*index = *slot & dictionary_index_mask(table);
	table->after = (uint64_t)*index + 1;
	return 0;
}
