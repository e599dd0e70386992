/*
 * dictionary.h: from the users' ids to dense indices; private to the writing half.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "catalog.h"

struct store_writer;
struct store_append;

#define DICTIONARY_NO_INDEX UINT32_MAX

/* An integer id and 0; or 96 bits of a string's hash: among 10 million strings two are alike with odds of 1 : 10¹⁵. */
struct dictionary_entry {
	uint64_t id;
	uint32_t more, index; /* index DICTIONARY_NO_INDEX: free */
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

struct dictionary {
	struct dictionary_table *tables; /* the one used last comes first */
	size_t limit;                    /* bytes that all tables may take, one that grows counted twice; 0: any */
	uint64_t seed;                   /* so that nobody can choose ids that are slow, or look alike */
	uint32_t *offsets;               /* working space: where each string of a batch begins */
	size_t offset_room;
};

int store_dictionary_init(struct dictionary *dictionary); /* STORE_E_SYSTEM: no random numbers */
void store_dictionary_committed(struct dictionary *dictionary);
void store_dictionary_aborted(struct dictionary *dictionary); /* forgets what was not committed */
void store_dictionary_free(struct dictionary *dictionary);

/*
 * Sets index[i] of the id in row kept[i], for i < count, giving new ids the next index and filing them (state->rows is
 * increased; the caller puts the state). DICTIONARY_NO_INDEX: an empty string, or no index is left. STORE_E_IDS: there
 * is no room for the new ones, and nothing has changed.
 */
int store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                            const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                            struct portolan_error *error);

/* Makes one record of the ids of one more chunk; *more: there is another chunk to do. */
int store_dictionary_consolidate(struct store_writer *writer, uint32_t run, bool *more, struct portolan_error *error);

#endif
