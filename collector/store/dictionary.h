/*
 * dictionary.h: from the user's ids to dense indices; private to the writing half.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "catalog.h"

struct store_writer;
struct store_append;

/* A bounded cache in front of the database; direct-mapped. */
struct dictionary_entry {
	uint64_t id[2]; /* an integer id and 0, or the 128-bit hash of a string */
	uint32_t run, index;
};

struct dictionary {
	struct dictionary_entry *entries; /* index UINT32_MAX: free */
	size_t room, used;
	uint32_t *offsets; /* working space: where each string of a batch begins */
	size_t offset_room;
};

void store_dictionary_forget(struct dictionary *dictionary); /* after an abort: what was cached may be untrue */
void store_dictionary_free(struct dictionary *dictionary);

#define DICTIONARY_NO_INDEX UINT32_MAX

/*
 * Sets index[i] of the id in row kept[i], for i < count, giving new ids the next index (state->rows is increased; the
 * caller puts the state). DICTIONARY_NO_INDEX: an empty string, or no index is left.
 */
int store_dictionary_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                            const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                            struct portolan_error *error);

/* Makes one record of the ids of one more chunk; *more: there is another chunk to do. */
int store_dictionary_consolidate(struct store_writer *writer, uint32_t run, bool *more, struct portolan_error *error);

#endif
