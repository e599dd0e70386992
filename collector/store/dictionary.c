/*
 * dictionary.c: giving ids their index.
 *
 * What is stored is one fact, `ids`: index → id, appended in the transaction of the batch that brought the ids. The way
 * back, id → index, is a table in memory, made from `ids` when a run is first written to. In the database it would be a
 * B-tree met in random order: measured, in the first epoch of shuffled ids it dirtied a page per new id and made
 * appending twenty times slower. The table takes 21 to 32 bytes per example, and grows in pieces; who has so many that
 * this matters declares them, and needs no table. All tables together are bounded: a batch whose new ids
 * find no room is left as it is (STORE_E_IDS), to come again when other tables are gone.
 *
 * Tables follow the pending transaction: an abort takes out the indices it had given.
 */
#include "dictionary.h"

#include "ids.h"
#include "rows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define PREPARED 32                    /* look-ups under way at once */
#define KEEP_BYTES ((size_t)256 << 20) /* above it, tables of runs that are not being written to are dropped: */
#define KEEP_SECONDS 60                /* … for so long; a run that is recording would have to read its ids again */

static struct dictionary_id
hash_string(const struct dictionary *dictionary, const uint8_t *data, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, dictionary->seed);

	return (struct dictionary_id){.id = hash.low64, .more = (uint32_t)hash.high64};
}

/* Takes the table out of the list that `link` is part of. */
static void
drop(struct dictionary_table **link)
{
	struct dictionary_table *table = *link;

	*link = table->next;
	dictionary_table_free(table);
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
	for (struct dictionary_table *table = dictionary->tables; table; table = table->next) {
		table->committed = table->rows;
		table->settled = true;
	}
}

void
store_dictionary_aborted(struct dictionary *dictionary)
{
	struct dictionary_table **link = &dictionary->tables;

	while (*link) {
		struct dictionary_table *table = *link;

		if (!table->settled || (table->rows != table->committed &&
		                        (table->committed == 0 || !dictionary_table_cut(table, table->committed)))) {
			drop(link); /* made again when it is needed */
			continue;
		}
		table->rows = table->committed;
		link = &table->next;
	}
}

void
store_dictionary_free(struct dictionary *dictionary)
{
	while (dictionary->tables)
		drop(&dictionary->tables);
	free(dictionary->offsets);
	*dictionary = (struct dictionary){0};
}

static int
out_of_memory(const struct store_writer *writer, struct portolan_error *error)
{
	return error_set(error, STORE_E_MEMORY,
	                 "store '%s': out of memory for the ids of a run; runs that declare their examples need none",
	                 writer->directory);
}

/* Fills an empty table from the segments of ids, which have to cover the indices without a gap. */
static int
load(struct store_writer *writer, struct dictionary_table *table, uint64_t rows, struct portolan_error *error)
{
	struct store_key from = store_key_u32(table->run);
	struct view_walk walk;
	const uint8_t *body;
	size_t size;
	int rc = store_walk_open(&walk, &writer->view, DB_IDS, &from, from.size, error);

	while (!rc && (rc = store_walk_record(&walk, RECORD_IDS, &body, &size, error)) == 0) {
		struct ids_segment segment;

		if (!store_ids_open(body, size, &segment) || walk.key.mv_size != 8 ||
		    store_key_read_u32((const uint8_t *)walk.key.mv_data + 4) != table->rows ||
		    table->rows + segment.count > rows) {
			rc = store_view_corrupt(&writer->view, DB_IDS, walk.key.mv_data, walk.key.mv_size, error);
			break;
		}
		for (uint32_t i = 0; i < segment.count && !rc; i++) {
			struct dictionary_id id = {0};
			size_t length;

			if (segment.kind == STORE_ID_INT) {
				id.id = store_ids_integer(&segment, i);
			} else {
				const uint8_t *string = store_ids_string(&segment, i, &length);

				id = hash_string(&writer->dictionary, string, length);
			}
			if (!dictionary_table_add(table, id, (uint32_t)table->rows))
				rc = out_of_memory(writer, error);
		}
	}
	store_walk_close(&walk);
	if (rc == VIEW_ABSENT)
		rc = table->rows == rows ? 0 : store_view_corrupt(&writer->view, DB_IDS, from.data, from.size, error);
	return rc;
}

static int64_t
now_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return (int64_t)time.tv_sec;
}

/* Drops tables not used of late, beginning with the one not used for longest, until those left are not too much. */
static void
make_place(struct dictionary *dictionary, size_t most, int64_t now)
{
	struct dictionary_table **link = &dictionary->tables;
	size_t bytes = 0;

	while (*link) {
		bytes += (*link)->bytes;
		if (bytes > most && now - (*link)->used_at > KEEP_SECONDS)
			drop(link);
		else
			link = &(*link)->next;
	}
}

static size_t
bytes_of_all(const struct dictionary *dictionary)
{
	size_t bytes = 0;

	for (const struct dictionary_table *table = dictionary->tables; table; table = table->next)
		bytes += table->bytes;
	return bytes;
}

/* Whether a table that has `now` bytes may have `then`; tables of other runs give way, if they are not in use. */
static bool
may_grow(struct dictionary *dictionary, size_t now, size_t then, int64_t clock)
{
	size_t more = then - now;

	if (more == 0 || !dictionary->limit)
		return true;
	if (then > dictionary->limit)
		return false;
	if (bytes_of_all(dictionary) > dictionary->limit - more)
		make_place(dictionary, dictionary->limit - more, clock);
	return bytes_of_all(dictionary) <= dictionary->limit - more;
}

static int
no_room(const struct dictionary *dictionary, struct portolan_error *error)
{
	return error_set(error, STORE_E_IDS,
	                 "the collector's memory for ids is used up (%zu MB): declare examples=N, or start portoland "
	                 "with a larger --max-memory",
	                 dictionary->limit >> 20);
}

void
store_writer_limit_ids(struct store_writer *writer, size_t bytes)
{
	writer->dictionary.limit = bytes;
}

/* The table of a run, made if need be. */
static int
get_table(struct store_writer *writer, uint32_t run, uint64_t rows, struct dictionary_table **found,
          struct portolan_error *error)
{
	struct dictionary *dictionary = &writer->dictionary;
	struct dictionary_table **link = &dictionary->tables, *table;
	int64_t now = now_seconds();
	int rc = 0;

	while (*link && (*link)->run != run)
		link = &(*link)->next;
	if (*link && (*link)->rows != rows)
		drop(link);
	table = *link && (*link)->run == run ? *link : NULL;
	if (table) {
		*link = table->next;
	} else {
		make_place(dictionary, KEEP_BYTES, now);
		if (!may_grow(dictionary, 0, (size_t)rows * 2 * sizeof(struct dictionary_entry), now))
			return no_room(dictionary, error);
		table = calloc(1, sizeof(*table));
		if (!table)
			return out_of_memory(writer, error);
		table->run = run;
		table->seed = dictionary->seed;
		rc = load(writer, table, rows, error);
	}
	table->used_at = now;
	table->next = dictionary->tables;
	dictionary->tables = table;
	if (rc)
		drop(&dictionary->tables);
	else
		*found = table;
	return rc;
}

/* Finds where each string of the batch begins. */
static bool
find_strings(struct dictionary *dictionary, const struct store_append *append)
{
	const uint8_t *lengths = append->ids;
	size_t at = append->rows;

	if (dictionary->offset_room < append->rows) {
		uint32_t *more = realloc(dictionary->offsets, append->rows * sizeof(*more));

		if (!more)
			return false;
		dictionary->offsets = more;
		dictionary->offset_room = append->rows;
	}
	for (uint32_t row = 0; row < append->rows; row++) {
		dictionary->offsets[row] = (uint32_t)at;
		at += lengths[row];
	}
	return true;
}

static size_t
length_of(const struct store_append *append, uint32_t row)
{
	return append->id_kind == STORE_ID_STR ? ((const uint8_t *)append->ids)[row] : sizeof(uint64_t);
}

static inline void
ask_for(const struct dictionary_table *table, struct dictionary_id id)
{
	uint64_t hash = dictionary_table_hash(table, id);
	const struct dictionary_piece *piece = &table->pieces[dictionary_table_piece(hash)];

	if (piece->room)
		__builtin_prefetch(dictionary_piece_home(piece, hash));
}

/* The ids of some rows; their entries are asked for from memory, so that the look-ups that follow need not wait. */
static void
prepare(const struct dictionary *dictionary, const struct dictionary_table *table, const struct store_append *append,
        const uint32_t *rows, uint32_t count, struct dictionary_id *ids)
{
	for (uint32_t i = 0; i < count; i++) {
		if (append->id_kind == STORE_ID_STR)
			ids[i] = hash_string(dictionary, (const uint8_t *)append->ids + dictionary->offsets[rows[i]],
			                     length_of(append, rows[i]));
		else
			ids[i] = (struct dictionary_id){.id = store_append_integer(append, rows[i])};
		ask_for(table, ids[i]);
	}
}

/* How many of the rows bring an id that is not in the table, by piece; one that comes twice counts twice. */
static void
count_fresh(const struct dictionary *dictionary, const struct dictionary_table *table,
            const struct store_append *append, const uint32_t *rows, uint32_t count, uint32_t fresh[DICTIONARY_PIECES])
{
	struct dictionary_id ids[PREPARED];

	memset(fresh, 0, DICTIONARY_PIECES * sizeof(*fresh));
	for (uint32_t i = 0; i < count; i++) {
		const struct dictionary_id *id = &ids[i % PREPARED];

		if (i % PREPARED == 0)
			prepare(dictionary, table, append, rows + i, count - i < PREPARED ? count - i : PREPARED, ids);
		if (dictionary_table_index(table, *id) == DICTIONARY_NO_INDEX)
			fresh[dictionary_table_piece(dictionary_table_hash(table, *id))]++;
	}
}

/* Before anything is changed: whether the new ids of the batch may be added. */
static int
check_room(struct dictionary *dictionary, const struct dictionary_table *table, const struct store_append *append,
           const uint32_t *rows, uint32_t count, struct portolan_error *error)
{
	uint32_t fresh[DICTIONARY_PIECES];
	size_t most = 2 * (table->bytes + (count + 64 * DICTIONARY_PIECES) * sizeof(struct dictionary_entry));

	if (!dictionary->limit || bytes_of_all(dictionary) + most <= dictionary->limit)
		return 0;
	count_fresh(dictionary, table, append, rows, count, fresh);
	return may_grow(dictionary, table->bytes, dictionary_table_bytes_with(table, fresh), table->used_at)
	               ? 0
	               : no_room(dictionary, error);
}

int
store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                        const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                        struct portolan_error *error)
{
	struct dictionary *dictionary = &writer->dictionary;
	uint32_t *fresh = malloc(((size_t)count + 1) * sizeof(*fresh)), fresh_count = 0, first = (uint32_t)state->rows;
	struct dictionary_table *table = NULL;
	struct dictionary_id ids[PREPARED];
	int rc = 0;

	if (!fresh || (append->id_kind == STORE_ID_STR && !find_strings(dictionary, append)))
		rc = out_of_memory(writer, error);
	if (!rc)
		rc = get_table(writer, run, state->rows, &table, error);
	if (!rc)
		rc = check_room(dictionary, table, append, kept, count, error);
	for (uint32_t i = 0; i < count && !rc; i++) {
		const struct dictionary_id *id = &ids[i % PREPARED];

		if (i % PREPARED == 0)
			prepare(dictionary, table, append, kept + i, count - i < PREPARED ? count - i : PREPARED, ids);
		index[i] = DICTIONARY_NO_INDEX;
		if (length_of(append, kept[i]) == 0)
			continue;
		index[i] = dictionary_table_index(table, *id);
		if (index[i] != DICTIONARY_NO_INDEX || state->rows >= STORE_MAX_EXAMPLES)
			continue;
		index[i] = (uint32_t)state->rows;
		if (!dictionary_table_add(table, *id, index[i])) {
			rc = out_of_memory(writer, error);
			break;
		}
		state->rows++;
		fresh[fresh_count++] = kept[i];
	}
	if (!rc)
		rc = store_ids_file(writer, run, append, dictionary->offsets, fresh, first, fresh_count, error);
	free(fresh);
	return rc;
}
