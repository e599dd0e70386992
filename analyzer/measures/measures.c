/*
 * measures.c: computes the measures (measure.h) of the examples of one block of the store, for the code that loads or
 * scans a run.
 *
 * The block is worked through in tiles of 64 rows, one word of its bitmaps. Within a tile the epochs are the outer loop
 * and the rows the inner one. The inner loop has a constant length, so the compiler makes vector code of it; and a
 * second pass over the tile finds it in the first-level cache. So variability is computed in two passes, mean first.
 * That is exact for nearly equal values, where a one-pass formula cancels. An absent value is replaced, as it is
 * loaded, by one that adds nothing.
 *
 * The sums themselves are those of measures_tile.h.
 */
#include "measures.h"

#include "log_product.h"
#include "measures_complete.h"
#include "measures_tile.h"
#include "measures_windows.h"

#include <math.h>
#include <string.h>

static void
tile_store(const struct tile *tile, double *out, const double *values)
{
	if (out)
		memcpy(out + tile->word * TILE, values, tile->rows * sizeof(*values));
}

static void
tile_divide(double *values, const double *by)
{
	for (unsigned r = 0; r < TILE; r++)
		values[r] /= by[r];
}

static void
tile_mean(const struct tile *tile, unsigned column, const double *counts, double *mean)
{
	tile_fill(mean, 0);
	tile_add(tile, column, mean);
	tile_divide(mean, counts);
}

static void
tile_variance(const struct tile *tile, const double *counts, const double *mean, double *variance)
{
	double values[TILE];

	tile_fill(variance, 0);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, STORE_GOLD_PROB, tile_present(tile, e, STORE_GOLD_PROB), mean, values);
		for (unsigned r = 0; r < TILE; r++)
			variance[r] += (values[r] - mean[r]) * (values[r] - mean[r]);
	}
	tile_divide(variance, counts);
}

static void
tile_aleatoric(const struct tile *tile, const double *counts, double *mean)
{
	tile_fill(mean, 0);
	tile_add_aleatoric(tile, mean);
	tile_divide(mean, counts);
}

static void
tile_loss(const struct tile *tile, const double *counts, double *mean)
{
	double mantissas[TILE];
	int64_t exponents[TILE] = {0};

	tile_fill(mantissas, 1);
	tile_multiply(tile, mantissas, exponents);
	for (unsigned r = 0; r < TILE; r++)
		mean[r] = log_product_loss(mantissas[r], exponents[r]) / counts[r];
}

static void
tile_probabilities(const struct tile *tile, double *const out[MEASURE_COUNT])
{
	double counts[TILE] = {0}, mean[TILE], variance[TILE], values[TILE];

	tile_count(tile, STORE_GOLD_PROB, STORE_GOLD_PROB, counts);
	tile_store(tile, out[MEASURE_EPOCHS], counts);
	if (out[MEASURE_CONFIDENCE]) {
		tile_mean(tile, STORE_GOLD_PROB, counts, mean);
		tile_store(tile, out[MEASURE_CONFIDENCE], mean);
	}
	if (out[MEASURE_THRESHOLD_CLOSENESS]) {
		for (unsigned r = 0; r < TILE; r++)
			values[r] = mean[r] * (1 - mean[r]);
		tile_store(tile, out[MEASURE_THRESHOLD_CLOSENESS], values);
	}
	if (out[MEASURE_VARIABILITY]) {
		tile_variance(tile, counts, mean, variance);
		for (unsigned r = 0; r < TILE; r++)
			values[r] = sqrt(variance[r]);
		tile_store(tile, out[MEASURE_VARIABILITY], values);
	}
	if (out[MEASURE_VARIABILITY_CI]) {
		for (unsigned r = 0; r < TILE; r++)
			values[r] =
			        counts[r] > 1 ? sqrt(variance[r] + variance[r] * variance[r] / (counts[r] - 1)) : NAN;
		tile_store(tile, out[MEASURE_VARIABILITY_CI], values);
	}
	if (out[MEASURE_ALEATORIC]) {
		tile_aleatoric(tile, counts, values);
		tile_store(tile, out[MEASURE_ALEATORIC], values);
	}
	if (out[MEASURE_LOSS]) {
		tile_loss(tile, counts, values);
		tile_store(tile, out[MEASURE_LOSS], values);
	}
}

static void
tile_learning(const struct tile *tile, const uint32_t *epochs, double *const out[MEASURE_COUNT])
{
	struct tile_learning learning = {0};
	double values[TILE];

	tile_fill(learning.first, NAN);
	tile_fill(learning.since, NAN);
	tile_learn(tile, epochs, &learning);
	if (out[MEASURE_CORRECTNESS]) {
		tile_divide(learning.correct, learning.epochs);
		tile_store(tile, out[MEASURE_CORRECTNESS], learning.correct);
	}
	tile_store(tile, out[MEASURE_FORGETTING_EVENTS], learning.forgotten);
	tile_store(tile, out[MEASURE_FIRST_LEARNED], learning.first);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = learning.learned >> r & 1 ? 0 : 1;
	tile_store(tile, out[MEASURE_NEVER_LEARNED], values);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = learning.right >> r & 1 ? learning.since[r] : NAN;
	tile_store(tile, out[MEASURE_ALWAYS_RIGHT_AFTER], values);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = learning.right >> r & 1 ? NAN : learning.since[r];
	tile_store(tile, out[MEASURE_ALWAYS_WRONG_AFTER], values);
}

void
measures_mean(const struct store_block *block, unsigned column, double *mean)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);
		double counts[TILE] = {0}, values[TILE];

		tile_count(&tile, column, column, counts);
		tile_mean(&tile, column, counts, values);
		tile_store(&tile, mean, values);
	}
}

static void
measures_el2n(const struct store_block *block, double *el2n)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);
		double counts[TILE] = {0}, mean[TILE] = {0};

		tile_count(&tile, STORE_GOLD_PROB, STORE_OTHER_SQ, counts);
		tile_add_el2n(&tile, mean);
		tile_divide(mean, counts);
		tile_store(&tile, el2n, mean);
	}
}

static void
measures_prob_margin(const struct store_block *block, double *prob_margins)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);
		double counts[TILE] = {0}, mean[TILE] = {0};

		tile_add_prob_margin(&tile, mean, counts);
		tile_divide(mean, counts);
		tile_store(&tile, prob_margins, mean);
	}
}

void
measures_block(const struct store_block *block, const uint32_t *epochs, size_t window, double threshold,
               double *const out[MEASURE_COUNT])
{
	bool learning = out[MEASURE_CORRECTNESS] || out[MEASURE_FORGETTING_EVENTS] || out[MEASURE_NEVER_LEARNED] ||
	                out[MEASURE_FIRST_LEARNED] || out[MEASURE_ALWAYS_RIGHT_AFTER] ||
	                out[MEASURE_ALWAYS_WRONG_AFTER];

	uint32_t done = isnan(threshold) ? measures_complete(block, epochs, out) : 0;

	for (size_t word = done / TILE; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);

		tile.threshold = threshold;
		tile_probabilities(&tile, out);
		if (learning)
			tile_learning(&tile, epochs, out);
	}
	if (out[MEASURE_EL2N])
		measures_el2n(block, out[MEASURE_EL2N]);
	if (out[MEASURE_AUM])
		measures_mean(block, STORE_MARGIN, out[MEASURE_AUM]);
	if (out[MEASURE_ENTROPY])
		measures_mean(block, STORE_ENTROPY, out[MEASURE_ENTROPY]);
	if (out[MEASURE_MAX_PROB])
		measures_mean(block, STORE_MAX_PROB, out[MEASURE_MAX_PROB]);
	if (out[MEASURE_PROB_MARGIN])
		measures_prob_margin(block, out[MEASURE_PROB_MARGIN]);
	if (out[MEASURE_DYN_UNC] || out[MEASURE_DUAL])
		measures_windows(block, window, out[MEASURE_DYN_UNC], out[MEASURE_DUAL]);
}

bool
measures_are_complete(const struct store_block *block)
{
	for (size_t e = 0; e < block->epoch_count; e++)
		if (!store_block_values(block, e, STORE_GOLD_PROB)->complete)
			return false;
	return true;
}
