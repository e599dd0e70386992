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
 * out[m] is not NULL. `epochs` are the numbers of the block's epochs; `window` is J, 2 … MEASURES_WINDOW_MAX. If out[]
 * has variability, threshold_closeness or variability_ci, it must have confidence; if it has variability_ci, also
 * variability. The block must hold gold_prob, correct and measure_infos[m].needs. */
void measures_block(const struct store_block *block, const uint32_t *epochs, size_t window,
                    double *const out[MEASURE_COUNT]);

/* Was every example of the block observed at every epoch? */
bool measures_are_complete(const struct store_block *block);

/* Fills `mean` with each row's mean of a float column over the epochs that have it; NaN if none has. */
void measures_mean(const struct store_block *block, unsigned column, double *mean);

/*
 * What part of the variance within examples comes from the block's first epoch alone: in Σ (p − c)², the part E / (E −
 * 1) · (p_1 − c)² is due to the difference between the first epoch and the mean of the others. measures_first_epoch()
 * adds to the sums, over examples observed at the first epoch and at two others at least; `confidence` and
 * `variability` are the block's.
 */
struct measures_first_epoch {
	double first, total;
	uint64_t examples;
};
void measures_first_epoch(const struct store_block *block, const double *confidence, const double *variability,
                          struct measures_first_epoch *sums);

/* Does the first of `epochs` epochs dominate? If all epochs were alike, its share first/total would be 1/(epochs − 1).
 * It dominates if its share is more than half-way from there to 1. Classifiers of the language of words, trained from
 * scratch for 6 epochs, reach 0.58 and 0.80 of that way when recorded during training, 0.31 and 0.43 when recorded at
 * the end of each epoch, and 0.24 to 0.38 with the first epoch left out. */
bool measures_first_epoch_dominates(const struct measures_first_epoch *sums, size_t epochs);

#endif
