/*
 * dictionary_table.h: the table from the ids of one run to their indices; private to dictionary.c.
 */
#ifndef STORE_DICTIONARY_TABLE_H
#define STORE_DICTIONARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DICTIONARY_NO_INDEX UINT32_MAX

/* An integer id and 0; or 96 bits of a string's hash: among 10 million strings two are alike with odds of 1 : 10¹⁵. */
struct dictionary_entry {
	uint64_t id;
	uint32_t more, index; /* index DICTIONARY_NO_INDEX: free */
};

struct dictionary_id { /* what of an entry is compared */
	uint64_t id;
	uint32_t more;
};

/*
 * Open addressing, in pieces that grow each for itself: so growth needs the memory of one piece beside the table, not
 * of another table. At most three quarters of a piece are in use.
 */
#define DICTIONARY_PIECES 32

struct dictionary_piece {
	struct dictionary_entry *entries;
	uint32_t room, rows;
};

struct dictionary_table { /* of one run */
	uint32_t run;
	bool settled; /* `committed` is known */
	uint64_t seed;
	struct dictionary_piece pieces[DICTIONARY_PIECES];
	size_t bytes;             /* of all pieces */
	uint64_t rows, committed; /* ids in it; of these, committed */
	int64_t used_at;          /* seconds of a monotonic clock */
	struct dictionary_table *next;
};

/* Where an id belongs. All its bits take part: ids that differ only in high ones, or in low ones, are usual. */
static inline uint64_t
dictionary_table_hash(const struct dictionary_table *table, struct dictionary_id id)
{
	uint64_t mixed = id.id ^ id.more ^ table->seed;

	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);
	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return mixed ^ mixed >> 33;
}

static inline unsigned
dictionary_table_piece(uint64_t hash)
{
	return (unsigned)(hash % DICTIONARY_PIECES);
}

/* The first place in a piece to look at. */
static inline struct dictionary_entry *
dictionary_piece_home(const struct dictionary_piece *piece, uint64_t hash)
{
	return &piece->entries[(hash >> 32) * piece->room >> 32];
}

/* The entry of an id, or the free one where it would be; NULL: its piece has no room yet. */
static inline struct dictionary_entry *
dictionary_table_find(const struct dictionary_table *table, struct dictionary_id id)
{
	uint64_t hash = dictionary_table_hash(table, id);
	const struct dictionary_piece *piece = &table->pieces[dictionary_table_piece(hash)];
	struct dictionary_entry *entry;

	if (!piece->room)
		return NULL;
	entry = dictionary_piece_home(piece, hash);
	while (entry->index != DICTIONARY_NO_INDEX && (entry->id != id.id || entry->more != id.more))
		entry = entry + 1 < piece->entries + piece->room ? entry + 1 : piece->entries;
	return entry;
}

/* The index of an id, or DICTIONARY_NO_INDEX. */
static inline uint32_t
dictionary_table_index(const struct dictionary_table *table, struct dictionary_id id)
{
	const struct dictionary_entry *entry = dictionary_table_find(table, id);

	return entry ? entry->index : DICTIONARY_NO_INDEX;
}

/* Adds an id that is not there; false: out of memory. */
bool dictionary_table_add(struct dictionary_table *table, struct dictionary_id id, uint32_t index);
/* Takes out what has an index from `rows` on; false: out of memory, and the table is of no use any more. */
bool dictionary_table_cut(struct dictionary_table *table, uint64_t rows);
/* The most memory that is in use while so many ids are added to each piece. */
size_t dictionary_table_bytes_with(const struct dictionary_table *table, const uint32_t more[DICTIONARY_PIECES]);
void dictionary_table_free(struct dictionary_table *table); /* NULL accepted */

#endif
