/*
 * write_ids.h: the ids of a batch, and their indices; private to the writing half.
 */
#ifndef STORE_WRITE_IDS_H
#define STORE_WRITE_IDS_H

#include "writer.h"

/* One integer id of the batch. */
static inline uint64_t
store_append_integer(const struct store_append *append, uint32_t row)
{
	const uint8_t *ids = append->ids;

	return append->id_size == 4 ? load_u32(ids + 4 * (size_t)row) : load_u64(ids + 8 * (size_t)row);
}

#define IDS_NO_INDEX UINT32_MAX

/*
 * Sets index[i] to the index of the id in row kept[i], for i < count. New ids get the next indices and are stored
 * (state->rows is increased; the caller stores the state). `kept` ascends. IDS_NO_INDEX: an empty string, or no index
 * is left. STORE_E_IDS: there is no room for the new ones, and nothing has changed.
 */
int store_ids_assign(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                     const struct store_append *append, const uint32_t *kept, uint32_t count, uint32_t *index,
                     struct portolan_error *error);

#endif
