/*
 * chunk.h: reads a chunk (up to 16,320 examples at one epoch) from its records into an image (merge.h); for snapshots,
 * folds and salvages. (fold_write.c packs images into records.)
 */
#ifndef STORE_CHUNK_H
#define STORE_CHUNK_H

#include "catalog.h"
#include "merge.h"

struct chunk_place {
	uint32_t run, epoch, chunk;
	uint32_t rows;     /* rows the chunk can have at most: more is damage */
	uint32_t sessions; /* sessions that the run has: a higher number is damage */
};

/* Addresses of columns in the store, valid until the transaction ends. */
struct chunk_lent {
	const void *values[STORE_COLUMN_MAX]; /* NULL: the image has the column, if it exists */
};

/*
 * Fills the image, which was reset before, with the chunk's observations: with those of `columns` that the chunk has,
 * so STORE_SESSION is read only if it is among them. A complete column of plain numbers is not copied: `lent`, which is
 * zeros before, gets its address, and the image has the column in use, without values. If `lent` is NULL, every column
 * is copied. Sets chunk->stored and chunk->merged; a chunk that is not stored stays empty. STORE_E_CORRUPT names run,
 * epoch, column and chunk.
 */
int store_chunk_load(const struct view *view, const struct chunk_place *place, uint64_t columns,
                     struct merge_chunk *chunk, struct chunk_lent *lent, struct portolan_error *error);

/* The position in the epoch's log up to which the chunk is merged; 0 where it is not stored. */
int store_chunk_merged(const struct view *view, const struct chunk_place *place, uint64_t *merged,
                       struct portolan_error *error);

#endif
