/*
 * measures.h: computes the measures of measure.h for the examples of a block: a stretch of consecutive examples, as the
 * store keeps them. For the code that fills the columns of a run.
 *
 * Pure functions: no I/O, no allocation, no globals; safe from any thread. Accumulated in float64. Epochs at which an
 * example was not observed do not exist for it. Results are doubles, NaN where a measure is not defined ("empty");
 * counts and epochs are whole numbers.
 */
#ifndef MEASURES_H
#define MEASURES_H

#include "measure.h"

#define MEASURES_WINDOW 10 /* the default of J in the papers' notation */
#define MEASURES_WINDOW_MAX 256

/* Fills out[m][0 … block->rows−1] for every measure m but tdds, which takes the users' columns prob_0, prob_1, …, if
 * out[m] is not NULL. `epochs` are the numbers of the block's epochs; `window` is J, 2 … MEASURES_WINDOW_MAX. `threshold`
 * is NaN; or else an example was right at an epoch if its gold_prob, a loss then, is at most that. If out[]
 * has variability, threshold_closeness or variability_ci, it must have confidence; if it has variability_ci, also
 * variability. The block must hold gold_prob, correct and measure_infos[m].needs. */
void measures_block(const struct store_block *block, const uint32_t *epochs, size_t window, double threshold,
                    double *const out[MEASURE_COUNT]);

/* Was every example of the block observed at every epoch? */
bool measures_are_complete(const struct store_block *block);

/* Fills `mean` with each row's mean of a float column over the epochs that have it; NaN if none has. */
void measures_mean(const struct store_block *block, unsigned column, double *mean);

#endif
