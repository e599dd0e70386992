/* measures_complete.h: the same measures where every example of a block was observed at every epoch; for measures.c. */
#ifndef MEASURES_COMPLETE_H
#define MEASURES_COMPLETE_H

#include "measures.h"

/* Fills what measures_block() does of gold_prob and correct alone, for the whole words of 64 rows; answers how many rows that
 * were: 0 where the block is not complete. */
uint32_t measures_complete(const struct store_block *block, const uint32_t *epochs, double *const out[MEASURE_COUNT]);

#endif
