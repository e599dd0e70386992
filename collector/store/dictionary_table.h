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

struct dictionary_table { /* of one run; open addressing, a power of two of entries, at most three quarters in use */
	uint32_t run;
	bool settled; /* `committed` is known */
	uint64_t seed;
	struct dictionary_entry *entries;
	size_t room;
	uint64_t rows, committed; /* ids in it; of these, committed */
	int64_t used_at;          /* seconds of a monotonic clock */
	struct dictionary_table *next;
};

/* The least room for so many ids. */
size_t dictionary_table_room(uint64_t rows);
/* Makes the table `room` large, keeping what has an index below `rows`; false: out of memory. */
bool dictionary_table_rebuild(struct dictionary_table *table, size_t room, uint64_t rows);
/* Adds an id that is not there; false: out of memory. */
bool dictionary_table_add(struct dictionary_table *table, struct dictionary_id id, uint32_t index);

/* Where an id belongs. All its bits take part: ids that differ only in high ones, or in low ones, are usual. */
static inline size_t
dictionary_table_home(const struct dictionary_table *table, struct dictionary_id id)
{
	uint64_t mixed = id.id ^ id.more ^ table->seed;

	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);
	mixed = (mixed ^ mixed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return (mixed ^ mixed >> 33) & (table->room - 1);
}

/* The entry of an id, or the free one where it would be. */
static inline struct dictionary_entry *
dictionary_table_find(const struct dictionary_table *table, struct dictionary_id id)
{
	size_t at = dictionary_table_home(table, id);

	while (table->entries[at].index != DICTIONARY_NO_INDEX &&
	       (table->entries[at].id != id.id || table->entries[at].more != id.more))
		at = (at + 1) & (table->room - 1);
	return &table->entries[at];
}

#endif
