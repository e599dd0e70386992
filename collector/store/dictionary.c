/*
 * dictionary.c: giving ids their index.
 *
 * Two records of one fact: `dict` (id → index) serves the writer, `ids` (index → id, in segments) the readers. Both are
 * written in the transaction that appends the batch, so an index is never handed out twice. The cache
 * only spares look-ups: it is dropped after an abort, and a miss costs one search in the database.
 */
#include "writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>

#define CACHE_SMALLEST ((size_t)1 << 14)
#define CACHE_LARGEST ((size_t)1 << 21) /* 48 MiB */

void
store_dictionary_forget(struct dictionary *dictionary)
{
	for (size_t i = 0; i < dictionary->room; i++)
		dictionary->entries[i].index = DICTIONARY_NO_INDEX;
	dictionary->used = 0;
}

void
store_dictionary_free(struct dictionary *dictionary)
{
	free(dictionary->entries);
	free(dictionary->offsets);
	*dictionary = (struct dictionary){0};
}

static struct dictionary_entry *
slot(struct dictionary *dictionary, uint32_t run, const uint64_t id[2])
{
	uint64_t mixed = (id[0] ^ id[1] ^ ((uint64_t)run << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return &dictionary->entries[(mixed >> 20) & (dictionary->room - 1)];
}

/* Without memory the cache stays as it is: it is only a cache. */
static void
enlarge(struct dictionary *dictionary)
{
	struct dictionary larger = {.room = dictionary->room ? 4 * dictionary->room : CACHE_SMALLEST};

	if (larger.room > CACHE_LARGEST)
		larger.room = CACHE_LARGEST;
	larger.entries = malloc(larger.room * sizeof(*larger.entries));
	if (!larger.entries)
		return;
	store_dictionary_forget(&larger);
	for (size_t i = 0; i < dictionary->room; i++) {
		const struct dictionary_entry *entry = &dictionary->entries[i];

		if (entry->index != DICTIONARY_NO_INDEX) {
			*slot(&larger, entry->run, entry->id) = *entry;
			larger.used++;
		}
	}
	free(dictionary->entries);
	dictionary->entries = larger.entries;
	dictionary->room = larger.room;
	dictionary->used = larger.used;
}

static void
remember(struct dictionary *dictionary, uint32_t run, const uint64_t id[2], uint32_t index)
{
	struct dictionary_entry *entry;

	if (dictionary->used * 2 >= dictionary->room && dictionary->room < CACHE_LARGEST)
		enlarge(dictionary);
	if (!dictionary->room)
		return;
	entry = slot(dictionary, run, id);
	dictionary->used += entry->index == DICTIONARY_NO_INDEX;
	*entry = (struct dictionary_entry){.id = {id[0], id[1]}, .run = run, .index = index};
}

struct user_id {
	const uint8_t *data; /* as in the key */
	size_t size;
	uint8_t integer[8];
	uint64_t cached_as[2];
};

static uint64_t
integer_at(const struct store_append *append, uint32_t row)
{
	const uint8_t *ids = append->ids;

	return append->id_size == 4 ? load_u32(ids + 4 * (size_t)row) : load_u64(ids + 8 * (size_t)row);
}

static void
get_id(const struct store_append *append, const struct dictionary *dictionary, uint32_t run, uint32_t row,
       struct user_id *id)
{
	if (append->id_kind == STORE_ID_INT) {
		uint64_t integer = integer_at(append, row), big = __builtin_bswap64(integer);

		memcpy(id->integer, &big, 8);
		id->data = id->integer;
		id->size = 8;
		id->cached_as[0] = integer;
		id->cached_as[1] = 0;
	} else {
		XXH128_hash_t hash;

		id->size = ((const uint8_t *)append->ids)[row];
		id->data = (const uint8_t *)append->ids + dictionary->offsets[row];
		hash = XXH3_128bits_withSeed(id->data, id->size, run);
		id->cached_as[0] = hash.low64;
		id->cached_as[1] = hash.high64;
	}
}

static uint32_t
dict_check(const struct store_key *key, uint32_t index)
{
	return (uint32_t)XXH3_64bits_withSeed(key->data, key->size, index);
}

/* VIEW_ABSENT: the id has no index yet. */
static int
look_up(struct store_writer *writer, const struct store_key *key, uint32_t *index, struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size}, v;
	struct dict_record record;
	int rc = mdb_get(writer->view.txn, writer->environment.dbi[DB_DICT], &k, &v);

	if (rc == MDB_NOTFOUND)
		return VIEW_ABSENT;
	if (rc)
		return store_environment_error(&writer->environment, rc, "looking up an id", error);
	if (v.mv_size != sizeof(record))
		return store_view_corrupt(&writer->view, DB_DICT, key->data, key->size, error);
	memcpy(&record, v.mv_data, sizeof(record));
	if (record.check != dict_check(key, record.index))
		return store_view_corrupt(&writer->view, DB_DICT, key->data, key->size, error);
	*index = record.index;
	return 0;
}

static int
add(struct store_writer *writer, const struct store_key *key, uint32_t index, struct portolan_error *error)
{
	MDB_val k = {.mv_data = (void *)key->data, .mv_size = key->size}, v;
	struct dict_record record = {.index = index, .check = dict_check(key, index)};
	int rc;

	v = (MDB_val){.mv_data = &record, .mv_size = sizeof(record)};
	rc = mdb_put(writer->view.txn, writer->environment.dbi[DB_DICT], &k, &v, MDB_NOOVERWRITE);
	if (rc) {
		writer->enlarge |= rc == MDB_MAP_FULL;
		return store_environment_error(&writer->environment, rc, "adding an id", error);
	}
	writer->pending += key->size + sizeof(record);
	return 0;
}

/* Finds where each string begins; false if their lengths do not fit. */
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

/* Files the ids with indices first … first + count − 1, which are those of `rows`, in one segment. */
static int
put_segment(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *rows,
            uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, first);
	struct ids_record head = {.count = count, .kind = (uint32_t)append->id_kind};
	const uint8_t *ids = append->ids;
	size_t body = sizeof(head), length, text = 0;
	uint32_t end = 0;
	uint8_t *record;
	int rc;

	for (uint32_t i = 0; i < count && append->id_kind == STORE_ID_STR; i++)
		text += ids[rows[i]];
	body += append->id_kind == STORE_ID_STR ? 4 * ((size_t)count + 1) + text : 8 * (size_t)count;
	length = RECORD_HEADER + body;
	rc = store_writer_reserve(writer, DB_IDS, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = record + RECORD_HEADER + sizeof(head);

		if (append->id_kind == STORE_ID_INT) {
			uint64_t integer = integer_at(append, rows[i]);

			memcpy(data + 8 * (size_t)i, &integer, 8);
		} else {
			memcpy(data + 4 * ((size_t)count + 1) + end, ids + writer->dictionary.offsets[rows[i]],
			       ids[rows[i]]);
			end += ids[rows[i]];
			memcpy(data + 4 * ((size_t)i + 1), &end, 4);
		}
	}
	store_record_seal(record, RECORD_IDS, length);
	return 0;
}

/* Segments do not cross the border of a chunk, so that a block's ids begin with a segment. */
static int
put_segments(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *rows,
             uint32_t first, uint32_t count, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t done = 0; done < count && !rc;) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;
		uint32_t part = count - done < room ? count - done : room;

		rc = put_segment(writer, run, append, rows + done, first + done, part, error);
		done += part;
	}
	return rc;
}

int
store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                        const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                        struct portolan_error *error)
{
	struct dictionary *dictionary = &writer->dictionary;
	uint32_t *fresh = malloc(((size_t)count + 1) * sizeof(*fresh)), fresh_count = 0, first = (uint32_t)state->rows;
	int rc = fresh && (append->id_kind != STORE_ID_STR || find_strings(dictionary, append)) ? 0 : STORE_E_MEMORY;

	if (rc)
		error_set(error, rc, "store '%s': out of memory", writer->directory);
	for (uint32_t i = 0; i < count && !rc; i++) {
		const struct dictionary_entry *entry;
		struct store_key key = store_key_u32(run);
		struct user_id id;

		get_id(append, dictionary, run, kept[i], &id);
		index[i] = DICTIONARY_NO_INDEX;
		if (id.size == 0)
			continue;
		entry = dictionary->room ? slot(dictionary, run, id.cached_as) : NULL;
		if (entry && entry->index != DICTIONARY_NO_INDEX && entry->run == run &&
		    entry->id[0] == id.cached_as[0] && entry->id[1] == id.cached_as[1]) {
			index[i] = entry->index;
			continue;
		}
		store_key_add_bytes(&key, id.data, id.size);
		rc = look_up(writer, &key, &index[i], error);
		if (rc == VIEW_ABSENT) {
			rc = 0;
			if (state->rows >= STORE_MAX_EXAMPLES)
				continue;
			index[i] = (uint32_t)state->rows++;
			fresh[fresh_count++] = kept[i];
			rc = add(writer, &key, index[i], error);
		}
		if (!rc)
			remember(dictionary, run, id.cached_as, index[i]);
	}
	if (!rc)
		rc = put_segments(writer, run, append, fresh, first, fresh_count, error);
	free(fresh);
	return rc;
}
