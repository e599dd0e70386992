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
 * Correct and forgotten epochs are counted for 64 rows at once, in bit planes: plane k holds bit k of 64 counters.
 */
#include "measures.h"

#include "log_product.h"
#include "measures_complete.h"
#include "measures_windows.h"

#include <math.h>
#include <string.h>

#define TILE 64u
#define LANES 8u
#define ALL UINT64_MAX
#define PLANES 32

/* 64 rows of a block; `valid` has a bit for each row that exists. */
struct tile {
	const struct store_block *block;
	size_t word;
	unsigned rows;
	uint64_t valid;
	double threshold; /* NaN: the store says which epochs were right */
};

struct counters {
	uint64_t plane[PLANES];
};

static struct tile
tile_at(const struct store_block *block, size_t word)
{
	unsigned rest = block->rows - (unsigned)word * TILE;
	unsigned rows = rest < TILE ? rest : TILE;

	return (struct tile){block, word, rows, rows == TILE ? ALL : (UINT64_C(1) << rows) - 1, NAN};
}

static uint64_t
tile_present(const struct tile *tile, size_t epoch, unsigned column)
{
	const struct store_values *values = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];

	return values->present ? values->present[tile->word] & tile->valid : 0;
}

/* The rows that were right at the epoch. */
static uint64_t
tile_right(const struct tile *tile, size_t epoch)
{
	const bool by_loss = !isnan(tile->threshold);
	const unsigned column = by_loss ? STORE_GOLD_PROB : STORE_CORRECT;
	const struct store_values *values = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];
	const uint64_t present = tile_present(tile, epoch, column);
	uint64_t right = 0;

	if (!by_loss)
		return values->present ? ((const uint64_t *)values->values)[tile->word] & present : 0;
	for (uint64_t rest = present; rest != 0; rest &= rest - 1) {
		size_t r = (size_t)__builtin_ctzll(rest);

		if ((double)((const float *)values->values)[tile->word * TILE + r] <= tile->threshold)
			right |= rest & -rest;
	}
	return right;
}

/* Reads the tile's values of a float column as doubles; values[r] is fill[r] where row r is not in `present`. */
static void
tile_load(const struct tile *tile, size_t epoch, unsigned column, uint64_t present, const double *fill, double *values)
{
	const struct store_values *stored = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];
	const float *from = stored->values ? (const float *)stored->values + tile->word * TILE : NULL;

	if (present == ALL) {
		for (unsigned r = 0; r < TILE; r++)
			values[r] = (double)from[r];
		return;
	}
	memcpy(values, fill, TILE * sizeof(*values));
	for (uint64_t rest = present; rest != 0; rest &= rest - 1) {
		unsigned r = (unsigned)__builtin_ctzll(rest);

		values[r] = (double)from[r];
	}
}

/* Adds one to the counters whose bit is set: a carry goes up through the planes. */
static void
counters_add(struct counters *counters, uint64_t bits)
{
	for (unsigned k = 0; bits != 0; k++) {
		uint64_t carry = counters->plane[k] & bits;

		counters->plane[k] ^= bits;
		bits = carry;
	}
}

static void
counters_read(const struct counters *counters, double *values)
{
	uint32_t sums[TILE] = {0};

	for (unsigned k = 0; k < PLANES; k++) {
		uint64_t plane = counters->plane[k];

		if (plane == 0)
			continue;
		for (unsigned r = 0; r < TILE; r++)
			sums[r] += (uint32_t)(plane >> r & 1) << k;
	}
	for (unsigned r = 0; r < TILE; r++)
		values[r] = sums[r];
}

static void
tile_store(const struct tile *tile, double *out, const double *values)
{
	if (out)
		memcpy(out + tile->word * TILE, values, tile->rows * sizeof(*values));
}

static void
tile_fill(double *values, double value)
{
	for (unsigned r = 0; r < TILE; r++)
		values[r] = value;
}

static void
tile_divide(double *values, const double *by)
{
	for (unsigned r = 0; r < TILE; r++)
		values[r] /= by[r];
}

/* Counts the epochs in which all of the given columns are present (`second` may be the same as `first`). */
static void
tile_count(const struct tile *tile, unsigned first, unsigned second, double *counts)
{
	struct counters counters = {0};

	for (size_t e = 0; e < tile->block->epoch_count; e++)
		counters_add(&counters, tile_present(tile, e, first) & tile_present(tile, e, second));
	counters_read(&counters, counts);
}

static void
tile_mean(const struct tile *tile, unsigned column, const double *counts, double *mean)
{
	double zero[TILE] = {0}, values[TILE];

	tile_fill(mean, 0);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, column, tile_present(tile, e, column), zero, values);
		for (unsigned r = 0; r < TILE; r++)
			mean[r] += values[r];
	}
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
	double zero[TILE] = {0}, p[TILE];

	tile_fill(mean, 0);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, STORE_GOLD_PROB, tile_present(tile, e, STORE_GOLD_PROB), zero, p);
		for (unsigned r = 0; r < TILE; r++)
			mean[r] += p[r] * (1 - p[r]);
	}
	tile_divide(mean, counts);
}

static void
tile_loss(const struct tile *tile, const double *counts, double *mean)
{
	double one[TILE], p[TILE], mantissas[TILE];
	int64_t exponents[TILE] = {0};

	tile_fill(one, 1);
	tile_fill(mantissas, 1);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, STORE_GOLD_PROB, tile_present(tile, e, STORE_GOLD_PROB), one, p);
		for (unsigned r = 0; r < TILE; r++)
			log_product_multiply(&mantissas[r], &exponents[r], p[r]);
	}
	for (unsigned r = 0; r < TILE; r++)
		mean[r] = log_product_loss(mantissas[r], exponents[r]) / counts[r];
}

static void
tile_probabilities(const struct tile *tile, double *const out[MEASURE_COUNT])
{
	double counts[TILE], mean[TILE], variance[TILE], values[TILE];

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

/* Sets values[r] for each row r whose bit is set. */
static void
tile_set(double *values, uint64_t bits, double value)
{
	for (; bits != 0; bits &= bits - 1)
		values[__builtin_ctzll(bits)] = value;
}

static void
tile_learning(const struct tile *tile, const uint32_t *epochs, double *const out[MEASURE_COUNT])
{
	struct counters correct_count = {0}, forgotten_count = {0}, epoch_count = {0};
	/* by row, so far: seen at all, correct when last seen, ever correct */
	uint64_t observed = 0, right = 0, learned = 0;
	double first_learned[TILE], since[TILE], values[TILE], counts[TILE];

	tile_fill(first_learned, NAN);
	tile_fill(since, NAN);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		uint64_t present = tile_present(tile, e, STORE_GOLD_PROB);
		uint64_t correct = tile_right(tile, e) & present;

		counters_add(&epoch_count, present);
		counters_add(&correct_count, correct);
		counters_add(&forgotten_count, right & present & ~correct);
		tile_set(first_learned, correct & ~learned, epochs[e]);
		tile_set(since, present & (~observed | (right ^ correct)), epochs[e]);
		right = (right & ~present) | correct;
		learned |= correct;
		observed |= present;
	}
	if (out[MEASURE_CORRECTNESS]) {
		counters_read(&epoch_count, counts);
		counters_read(&correct_count, values);
		tile_divide(values, counts);
		tile_store(tile, out[MEASURE_CORRECTNESS], values);
	}
	counters_read(&forgotten_count, values);
	tile_store(tile, out[MEASURE_FORGETTING_EVENTS], values);
	tile_store(tile, out[MEASURE_FIRST_LEARNED], first_learned);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = learned >> r & 1 ? 0 : 1;
	tile_store(tile, out[MEASURE_NEVER_LEARNED], values);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = right >> r & 1 ? since[r] : NAN;
	tile_store(tile, out[MEASURE_ALWAYS_RIGHT_AFTER], values);
	for (unsigned r = 0; r < TILE; r++)
		values[r] = right >> r & 1 ? NAN : since[r];
	tile_store(tile, out[MEASURE_ALWAYS_WRONG_AFTER], values);
}

void
measures_mean(const struct store_block *block, unsigned column, double *mean)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);
		double counts[TILE], values[TILE];

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
		double zero[TILE] = {0}, one[TILE], p[TILE], others[TILE], counts[TILE], mean[TILE] = {0};

		tile_fill(one, 1);
		tile_count(&tile, STORE_GOLD_PROB, STORE_OTHER_SQ, counts);
		for (size_t e = 0; e < block->epoch_count; e++) {
			uint64_t present =
			        tile_present(&tile, e, STORE_GOLD_PROB) & tile_present(&tile, e, STORE_OTHER_SQ);

			tile_load(&tile, e, STORE_GOLD_PROB, present, one, p);
			tile_load(&tile, e, STORE_OTHER_SQ, present, zero, others);
			for (unsigned r = 0; r < TILE; r++)
				mean[r] += sqrt((1 - p[r]) * (1 - p[r]) + others[r]);
		}
		tile_divide(mean, counts);
		tile_store(&tile, el2n, mean);
	}
}

/*
 * The largest other probability is not recorded. Where the gold label is not the most probable class, it is max_prob.
 * Where it is, it follows from the margin of the logits z: p − p_k = p (1 − e^(z_k − z)), and the difference of two
 * float32 near each other is avoided. Neither multiplies an infinity by a p that has underflowed to 0.
 */
static double
prob_margin(double p, double margin, double max_prob)
{
	return margin > 0 ? -p * expm1(-margin) : p - max_prob;
}

static void
measures_prob_margin(const struct store_block *block, double *prob_margins)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		struct tile tile = tile_at(block, word);
		double zero[TILE] = {0}, p[TILE], margin[TILE], max_prob[TILE], counts[TILE] = {0}, mean[TILE] = {0};

		for (size_t e = 0; e < block->epoch_count; e++) {
			uint64_t present = tile_present(&tile, e, STORE_GOLD_PROB) &
			                   tile_present(&tile, e, STORE_MARGIN) &
			                   tile_present(&tile, e, STORE_MAX_PROB);

			tile_load(&tile, e, STORE_GOLD_PROB, present, zero, p);
			tile_load(&tile, e, STORE_MARGIN, present, zero, margin);
			tile_load(&tile, e, STORE_MAX_PROB, present, zero, max_prob);
			for (unsigned r = 0; r < TILE; r++) {
				mean[r] += prob_margin(p[r], margin[r], max_prob[r]);
				counts[r] += (double)(present >> r & 1);
			}
		}
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
