/* measures_complete.h: for measures.c: the fast way to compute the measures of a complete block, in which every example
 * was observed at every epoch. */
#ifndef MEASURES_COMPLETE_H
#define MEASURES_COMPLETE_H

#include "measure.h"

/* Fills those measures of measures_block() that need gold_prob and correct alone, for whole words of 64 rows. Returns
 * the number of these rows; 0: the block is not complete. */
uint32_t measures_complete(const struct store_block *block, const uint32_t *epochs, double *const out[MEASURE_COUNT]);

#endif
