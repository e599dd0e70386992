/*
 * dictionary.h: from the users' ids to dense indices; private to the writing half.
 */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "catalog.h"
#include "dictionary_table.h"

struct store_writer;
struct store_append;

struct dictionary {
	struct dictionary_table *tables; /* the one used last comes first */
	size_t limit;                    /* bytes that all tables may take, while they grow as well; 0: any */
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

/*
 * Files the ids of the batch's `rows`, which have the indices first … first + count − 1. `offsets`: where each string
 * of the batch begins (only for STORE_ID_STR).
 */
int store_ids_file(struct store_writer *writer, uint32_t run, const struct store_append *append,
                   const uint32_t *offsets, const uint32_t *rows, uint32_t first, uint32_t count,
                   struct portolan_error *error);

#endif
