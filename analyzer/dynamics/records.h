/* records.h: observations of a block of the store as records (layout.h), and records as rows of text. Pure but for what
 * is written to; safe from any thread. */
#ifndef DYNAMICS_RECORDS_H
#define DYNAMICS_RECORDS_H

#include "layout.h"

#define RECORDS_TILE 64u /* records are made so many at a time: they stay in the first-level cache */

/* A block at one epoch. */
struct records_source {
	const struct layout *layout;
	const struct store_block *block; /* of that epoch alone */
	const struct store_ids *ids;
	uint32_t epoch;
};

/* Lists the rows of the block that were observed, ascending: how many. Room for STORE_CHUNK. */
size_t records_observed(const struct store_block *block, uint32_t *rows);

/* Makes the records of n rows, which ascend, at `to`. */
void records_make(const struct records_source *source, const uint32_t *rows, size_t n, char *to);

/* Writes a record as the next row. */
void records_print(const struct layout *layout, const char *record, struct rows *rows);

#endif
