/*
 * scan_part.h: a piece of a block of the store, made a part of the run; for scan.c. Pure but for what is written to.
 */
#ifndef SCAN_PART_H
#define SCAN_PART_H

#include "dynamics.h"

struct scan_sums {
	uint64_t count, gaps;
	struct measures_first_epoch first_epoch;
};

/* How many examples of the block were observed. */
uint32_t scan_part_observed(const struct store_block *block);

/* The block's rows from `from`, a multiple of 64, on. `columns` has room for as many as the block has; only those in
 * `held`, a mask, are set, so the others must be zero. */
struct store_block scan_part_cut(const struct store_block *block, uint64_t held, uint32_t from, uint32_t rows,
                                 struct store_values *columns);

/* Fills the part's columns, gold, order and count, which have their places, from the piece, and adds to the sums. */
void scan_part_compute(struct dynamics *part, const struct store_block *piece, struct scan_sums *sums);

#endif
