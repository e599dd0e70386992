/*
 * dictionary.h: says which index an id of the users has, and gives new ids the next ones; for the writer (rows.c),
 * which stores indices in place of ids. There is a table in memory for each run that is written to. Functions that can
 * fail answer STORE_E_MEMORY, or STORE_E_IDS: the tables have no room for more ids.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "layout.h"

/* What stands for an id in a table: an integer id and 0; or 96 bits of a string's hash. That two of 10 million strings
 * have the same hash has odds of 1 : 10¹⁵. */
struct dictionary_id {
	uint64_t id;
	uint32_t more;
} __attribute__((packed, aligned(4)));

struct dictionary_table { /* of one run; see dictionary.c */
	uint32_t run;
	struct dictionary_id *ids; /* ids by index; the slots follow in the same memory */
	uint32_t *slots;
	uint64_t room, slot_count;
	size_t bytes;             /* of ids and slots */
	uint64_t rows, committed; /* number of ids, and of committed ids */
	uint64_t after;           /* one more than the index that was found last */
	uint64_t seed;
	int64_t used_at; /* seconds of a monotonic clock */
	struct dictionary_table *next;
};

struct dictionary {
	struct dictionary_table *tables; /* the one used last comes first */
	size_t limit;                    /* bytes that all tables may take; 0: no limit */
	uint64_t seed;                   /* so that no client can choose ids that are slow, or have the same hash */
};

int store_dictionary_init(struct dictionary *dictionary); /* STORE_E_SYSTEM: no random numbers */
void store_dictionary_committed(struct dictionary *dictionary);
void store_dictionary_aborted(struct dictionary *dictionary); /* forgets what was not committed */
void store_dictionary_free(struct dictionary *dictionary);

/* The table of a run, which is made if there is none; it becomes the one used last. NULL: out of memory. */
struct dictionary_table *store_dictionary_table(struct dictionary *dictionary, uint32_t run);
void store_dictionary_drop_first(struct dictionary *dictionary); /* the table used last */

/* Makes room for `rows` ids at least: the table grows by half, or by an eighth if the limit allows no more. The slots
 * are empty afterwards: call store_dictionary_fill(). */
int store_dictionary_grow(struct dictionary *dictionary, struct dictionary_table *table, uint64_t rows);
/* Makes the slots anew, from the ids. */
void store_dictionary_fill(struct dictionary_table *table);

struct dictionary_id store_dictionary_hash_string(const struct dictionary_table *table, const uint8_t *data,
                                                  size_t size);

#define DICTIONARY_PREPARED 32 /* look-ups under way at once */

/* If ids[] are those whose indices follow the one that was found last, sets index[] to these: an epoch in the order of the
 * first needs no slots. False: they are not, and nothing has changed. */
bool store_dictionary_follow(struct dictionary_table *table, const struct dictionary_id *ids, uint32_t count,
                             uint32_t *index);

/* Computes the hashes of some ids, and prefetches what their look-ups will read. */
void store_dictionary_prepare(const struct dictionary_table *table, const struct dictionary_id *ids, uint32_t count,
                              uint64_t *hashes);
/* Sets *index to the id's index, giving it one if it has none. If no index is left, *index stays as it is. */
int store_dictionary_index(struct dictionary *dictionary, struct dictionary_table *table, struct dictionary_id id,
                           uint64_t hash, uint32_t *index);
/* Takes back the indices from `rows` on. */
void store_dictionary_take_back(struct dictionary_table *table, uint64_t rows);

#endif
