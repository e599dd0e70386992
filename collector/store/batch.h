/*
 * batch.h: a batch, that is, the observations that a client sent in one frame, as the log of their epoch keeps it. For
 * the store's own files: write_append.c makes batches; snapshots, folds and salvages read them.
 *
 * A batch names examples by their indices, not by the users' ids, so that readers and folds need no dictionary. Of
 * consecutive indices only the first is stored.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include "record.h"

struct batch {
	uint32_t session, rows;
	uint64_t position;                     /* in its epoch's log; set by store_catalog_next_batch() */
	uint64_t columns;                      /* mask, in which STORE_SESSION never is */
	uint32_t first;                        /* index of row 0; BATCH_SCATTERED: see `index` */
	uint32_t lowest, highest;              /* index; UINT32_MAX and 0 if there are no rows */
	const uint8_t *index;                  /* uint32[rows], unaligned; NULL: first, first + 1, … */
	const uint8_t *data[STORE_COLUMN_MAX]; /* unaligned; NULL if the mask does not have the column */
};

/* Bytes of the whole record. */
size_t store_batch_size(uint32_t rows, uint64_t columns, bool scattered);

/* False if the record is damaged, or an index is not below `examples`, or the session not below `sessions`. */
bool store_batch_open(const void *record, size_t size, uint64_t examples, uint32_t sessions, struct batch *batch);

static inline uint32_t
store_batch_index(const struct batch *batch, uint32_t row)
{
	return batch->index ? load_u32(batch->index + 4 * (size_t)row) : batch->first + row;
}

#endif
