/*
 * tally.h: adds up the epochs of a run, each of which is read only once, for `watch`, `epochs` and the live page: how
 * accurate the model was, and how many examples it has forgotten. Pure.
 *
 * Epochs are added in ascending order, block by block. Half a byte per example is kept, with which the whole run's
 * forgetting can be followed. Confidence and variability are followed for a sample of at most TALLY_POINTS examples.
 */
#ifndef TALLY_H
#define TALLY_H

#include <portolan/store.h>

/* What is known of the examples in one block. In each array, an example has one bit. */
struct tally_block {
	uint64_t seen[STORE_CHUNK_WORDS];       /* observed at least once */
	uint64_t right[STORE_CHUNK_WORDS];      /* correct when last observed */
	uint64_t ever_right[STORE_CHUNK_WORDS]; /* correct at least once */
	uint64_t forgotten[STORE_CHUNK_WORDS];  /* had a forgetting event */
};

struct tally_epoch {
	uint32_t epoch;
	bool of_losses; /* of a run of losses: gold_prob is a sum of losses, and there is no accuracy or confidence */
	uint64_t observed, correct;
	double gold_prob;   /* sum */
	double loss;        /* sum of −ln p; for p = 0, as measures/log_product.h does it */
	uint64_t forgotten; /* examples incorrect now, but correct when last observed before: Toneva et al. 2019, §3 */
	uint64_t learned;   /* examples correct for the first time */
};

/* Adds one epoch of a block of `rows` examples, to `block` and to `epoch`. */
void tally_add(struct tally_block *block, const struct store_values *gold_prob, const struct store_values *correct,
               uint32_t rows, struct tally_epoch *epoch);

/* Means over an epoch's observations; NaN if it has none. `epoch` is a struct tally_epoch: these are for table
 * columns. */
double tally_accuracy(const void *epoch);
double tally_confidence(const void *epoch);
double tally_mean_loss(const void *epoch);

struct tally_counts {
	uint64_t examples, forgotten, never_learned;
};
void tally_count(const struct tally_block *block, struct tally_counts *counts);

/* The mean of one example's gold probabilities, and the sum of their squared deviations from it: Welford 1962. */
struct tally_point {
	double mean, squares;
	uint32_t count, right; /* observations; the correct ones among them */
};

#define TALLY_POINTS 32768u

/* Every stride-th example, by dense index; the stride is a power of two. */
struct tally_sample {
	struct tally_point *points; /* TALLY_POINTS */
	uint64_t stride, rows;
};

/* Extends the sample to `rows` examples, no fewer than before; if it would have too many points, every second one is
 * removed. */
void tally_sample_grow(struct tally_sample *sample, uint64_t rows);
size_t tally_sample_points(const struct tally_sample *sample);

/* Adds one epoch of the block that begins at example `first`. */
void tally_sample_add(struct tally_sample *sample, const struct store_values *gold_prob,
                      const struct store_values *correct, uint32_t first, uint32_t rows);

/* The population standard deviation of the gold probabilities. */
double tally_variability(const struct tally_point *point);

#endif
