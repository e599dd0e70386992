/*
 * dictionary.h: maps the users' ids to dense indices; private to the writing half.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "catalog.h"

struct store_writer;
struct store_append;

/* An integer id and 0; or 96 bits of a string's hash: among 10 million strings two are alike with odds of 1 : 10¹⁵. */
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

#define DICTIONARY_NO_INDEX UINT32_MAX

/*
 * Sets index[i] to the index of the id in row kept[i], for i < count. New ids get the next indices and are stored
 * (state->rows is increased; the caller stores the state). `kept` ascends. DICTIONARY_NO_INDEX: an empty string, or no
 * index is left. STORE_E_IDS: there is no room for the new ones, and nothing has changed.
 */
int store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                            const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                            struct portolan_error *error);

#endif
