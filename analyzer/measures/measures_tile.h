/*
 * measures_tile.h: adds up what the measures are made of, for 64 examples at a time: for measures.c, which reads all
 * epochs and begins with nothing, and for sums.c, which goes on from epochs that were read before. The same numbers in
 * the same order give the same sums, to the last bit.
 *
 * All arrays have TILE elements. Epochs at which an example was not observed add nothing. Pure.
 */
#ifndef MEASURES_TILE_H
#define MEASURES_TILE_H

#include <portolan/store.h>

#define TILE 64u

/* 64 rows of a block; `valid` has a bit for each row that exists. */
struct tile {
	const struct store_block *block;
	size_t word;
	unsigned rows;
	uint64_t valid;
	double threshold; /* NaN: the store says which epochs were right; else a loss of at most this is right */
};
struct tile tile_at(const struct store_block *block, size_t word); /* without a threshold */

/* The rows that have the column at the epoch. */
uint64_t tile_present(const struct tile *tile, size_t epoch, unsigned column);

/* Reads the tile's values of a float column as doubles; values[r] is fill[r] where row r is not in `present`. */
void tile_load(const struct tile *tile, size_t epoch, unsigned column, uint64_t present, const double *fill,
               double *values);

void tile_fill(double *values, double value);

/* Adds how many epochs have both columns; `second` may be the same as `first`. */
void tile_count(const struct tile *tile, unsigned first, unsigned second, double *counts);

void tile_add(const struct tile *tile, unsigned column, double *sums); /* of a float column */
void tile_add_aleatoric(const struct tile *tile, double *sums);        /* p (1 - p) */
void tile_add_el2n(const struct tile *tile, double *sums);
void tile_add_prob_margin(const struct tile *tile, double *sums, double *counts);

/* Multiplies by p: log_product.h. */
void tile_multiply(const struct tile *tile, double *mantissas, int64_t *exponents);

/* When the examples were right. */
struct tile_learning {
	uint64_t observed, right, learned; /* by row: seen at all, right when last seen, ever right */
	double first[TILE];                /* the first epoch at which it was right; of rows in `learned` */
	double since[TILE];                /* the epoch since which it is right, or wrong; of rows in `observed` */
	double epochs[TILE], correct[TILE], forgotten[TILE]; /* counts */
};
/* Goes on; `epochs` are the numbers of the block's epochs, later than those before. */
void tile_learn(const struct tile *tile, const uint32_t *epochs, struct tile_learning *learning);

#endif
