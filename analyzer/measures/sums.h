/*
 * sums.h: for each example of a block, the sums over epochs from which its measures follow, so that later epochs can be
 * added without reading the earlier ones again: for `portolan metrics --state`.
 *
 * With the epochs added in ascending order, all sums but three are added up as measures.c does, and their measures are
 * the same to the last bit. The squares about the mean, the slope, and the squares about the line go on from their
 * values so far, without a second pass:
 *
 *   M2   += n / (n + 1) (x − mean)²          n, mean: of the epochs before         Youngs & Cramer 1971
 *   M2_e, C: likewise, of the epochs' numbers and of both
 *   R    += w² / (1 + 1 / n + d² / M2_e)     w: how far x is from the line before; d: the epoch from the epochs' mean
 *                                            recursive residuals: Brown, Durbin & Evans 1975
 *
 * None of them subtracts sums of squares. Each x − mean is as exact as the mean: where values are large beside their
 * spread, the spread loses the digits that these have in common. tdds, which is of whole distributions, is not among
 * the measures.
 *
 * No I/O, no globals. One owner; different objects in different threads.
 */
#ifndef SUMS_H
#define SUMS_H

#include "measure.h"

/* What sums are of, and so which there are. */
struct sums_kind {
	uint64_t columns;      /* a mask of the store's columns that the epochs may have */
	bool of_losses;        /* of a run of losses */
	double loss_threshold; /* as measures_block() has it; NaN: none */
	size_t window;         /* of dyn_unc and dual */
};

#define SUMS_PARTS_MOST (24 + 2 * (STORE_COLUMN_MAX - STORE_COLUMN_USER))

/* One number, or a few, of each example, 0 before anything is added. */
struct sums_part {
	unsigned key; /* which it is; the same in all kinds */
	size_t width; /* bytes of an example: 4: uint32_t; 8: double; else floats */
	void *values; /* STORE_CHUNK of them; NULL where the parts are only listed */
};

struct block_sums {
	struct sums_kind kind;
	size_t count;
	struct sums_part parts[SUMS_PARTS_MOST];
	char *memory;
};

/* Lists the parts that sums of a kind have, in the order in which files have them. Returns how many. */
size_t sums_list(const struct sums_kind *kind, struct sums_part parts[SUMS_PARTS_MOST]);

/* The bytes that the sums of one example take. */
size_t sums_size(const struct sums_kind *kind);

/* Makes room for a block: STORE_CHUNK examples. PORTOLAN_E_MEMORY. */
int sums_init(struct block_sums *sums, const struct sums_kind *kind, struct portolan_error *error);
void sums_free(struct block_sums *sums); /* may be called twice */
void sums_clear(struct block_sums *sums);

/* The values of a part; NULL: sums of this kind do not have it. */
void *sums_part(const struct block_sums *sums, unsigned key);

/* Adds the epochs of a block, whose numbers are `epochs`. They come after all that were added before. */
void sums_add(struct block_sums *sums, const struct store_block *block, const uint32_t *epochs);

/* The number of epochs at which each example was observed. */
const uint32_t *sums_epochs(const struct block_sums *sums);

/* As measures_block() and measures_mean(), for the examples at … at + rows − 1 of the block; `out` has none of tdds. */
void sums_measures(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT]);
void sums_mean(const struct block_sums *sums, unsigned column, uint32_t at, uint32_t rows, double *mean);

#endif
