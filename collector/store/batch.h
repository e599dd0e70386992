/*
 * batch.h: a batch as the log keeps it; private to the store, shared by both halves.
 *
 * A batch holds indices, not ids, so that readers and folds need no dictionary.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include "record.h"

struct batch {
	uint32_t session, rows;
	uint64_t sequence;
	uint64_t columns;                      /* mask; no STORE_SESSION */
	const uint8_t *index;                  /* uint32[rows], unaligned */
	const uint8_t *data[STORE_COLUMN_MAX]; /* unaligned; NULL where the mask has no bit */
};

/* Bytes of the whole record. */
size_t store_batch_size(uint32_t rows, uint64_t columns);

/* Offsets of the parts from the record's start; column STORE_COLUMN_MAX is the index. Padding included in none. */
size_t store_batch_offset(uint32_t rows, uint64_t columns, unsigned column);

/* False if the record is damaged, or an index is not below `examples`, or the session not below `sessions`. */
bool store_batch_open(const void *record, size_t size, uint64_t examples, uint32_t sessions, struct batch *batch);

#endif
