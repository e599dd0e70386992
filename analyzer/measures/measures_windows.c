/*
 * measures_windows.c: computes the measures dyn_unc and dual for measures.c. Each window of J epochs at which an
 * example was observed has a mean m and a sample standard deviation s of p(gold). dyn_unc is the mean of s over the
 * windows, dual the mean of (1 − m) s.
 *
 * Neighbouring windows share all epochs but one. Yet each is summed by itself, mean first: sums that are carried on
 * from window to window lose the digits in which nearly equal values differ. Of words of 64 rows that have every epoch,
 * several rows are computed side by side, others row by row. Both take the same operations in the same order, so the
 * results are the same to the last bit.
 */
#include "measures_windows.h"

#include <portolan/widths.h>

#include <math.h>
#include <string.h>

#define TILE 64u /* rows of a word of bits */
#define LANES 4u /* rows of a vector: GCC makes slow code of longer ones for processors with AVX2 */
#define PARTS 2u /* vectors whose sums are held in registers; the pragmas say so, too, for -O2 */
#define ROWS (LANES * PARTS)

/* The sums of a row over its windows so far. */
struct sums {
	double deviations, weighted;
};

static const struct store_values *
gold_prob(const struct store_block *block, size_t epoch)
{
	return store_block_values(block, epoch, STORE_GOLD_PROB);
}

static bool
is_observed(const struct store_block *block, size_t epoch, uint32_t row)
{
	const uint64_t *present = gold_prob(block, epoch)->present;

	return present && present[row / TILE] >> row % TILE & 1;
}

/* Adds the window of observed epochs that begins with `from` and ends with `to`. */
static void
add_window(const struct store_block *block, uint32_t row, size_t from, size_t to, size_t window, struct sums *sums)
{
	double mean = 0, variance = 0, deviation;

	for (size_t e = from; e <= to; e++)
		if (is_observed(block, e, row))
			mean += (double)((const float *)gold_prob(block, e)->values)[row];
	mean /= (double)window;
	for (size_t e = from; e <= to; e++)
		if (is_observed(block, e, row)) {
			double away = (double)((const float *)gold_prob(block, e)->values)[row] - mean;

			variance += away * away;
		}
	deviation = sqrt(variance / (double)(window - 1));
	sums->deviations += deviation;
	sums->weighted += (1 - mean) * deviation;
}

static void
measure_row(const struct store_block *block, uint32_t row, size_t window, double *dyn_unc, double *dual)
{
	struct sums sums = {0, 0};
	size_t from = 0, held = 0, windows = 0;

	for (size_t e = 0; e < block->epoch_count; e++) {
		if (!is_observed(block, e, row))
			continue;
		if (held == window)
			from++;
		else
			held++;
		while (!is_observed(block, from, row))
			from++;
		if (held < window)
			continue;
		add_window(block, row, from, e, window, &sums);
		windows++;
	}
	if (dyn_unc)
		dyn_unc[row] = windows > 0 ? sums.deviations / (double)windows : (double)NAN;
	if (dual)
		dual[row] = windows > 0 ? sums.weighted / (double)windows : (double)NAN;
}

/* Written out as vectors, as the compiler makes none of these sums. */
typedef double doubles __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef float floats __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

INLINE doubles
rows_of(const struct store_block *block, size_t epoch, size_t at)
{
	return __builtin_convertvector(*(const floats *)((const float *)gold_prob(block, epoch)->values + at), doubles);
}

INLINE doubles
roots(doubles of)
{
	double values[LANES];
	doubles to;

	memcpy(values, &of, sizeof(values));
#pragma GCC unroll 1 /* else no vector code */
	for (unsigned r = 0; r < LANES; r++)
		values[r] = sqrt(values[r]);
	memcpy(&to, values, sizeof(to));
	return to;
}

/* Adds the window of ROWS rows that have every epoch. */
INLINE void
add_windows(const struct store_block *block, size_t at, size_t from, size_t window, doubles deviations[PARTS],
            doubles weighted[PARTS])
{
	doubles mean[PARTS] = {0}, variance[PARTS] = {0};

	for (size_t e = from; e < from + window; e++) {
#pragma GCC unroll 2
		for (unsigned p = 0; p < PARTS; p++)
			mean[p] += rows_of(block, e, at + p * LANES);
	}
#pragma GCC unroll 2
	for (unsigned p = 0; p < PARTS; p++)
		mean[p] /= (double)window;
	for (size_t e = from; e < from + window; e++) {
#pragma GCC unroll 2
		for (unsigned p = 0; p < PARTS; p++) {
			const doubles away = rows_of(block, e, at + p * LANES) - mean[p];

			variance[p] += away * away;
		}
	}
#pragma GCC unroll 2
	for (unsigned p = 0; p < PARTS; p++) {
		const doubles deviation = roots(variance[p] / (double)(window - 1));

		deviations[p] += deviation;
		weighted[p] += (1 - mean[p]) * deviation;
	}
}

/* Measures ROWS rows that have every epoch. */
INLINE void
measure_rows(const struct store_block *block, size_t at, size_t window, double *dyn_unc, double *dual)
{
	doubles deviations[PARTS] = {0}, weighted[PARTS] = {0};
	const size_t windows = block->epoch_count - window + 1;

	for (size_t from = 0; from < windows; from++)
		add_windows(block, at, from, window, deviations, weighted);
#pragma GCC unroll 2
	for (unsigned p = 0; p < PARTS && dyn_unc; p++)
		*(doubles *)(dyn_unc + at + p * LANES) = deviations[p] / (double)windows;
#pragma GCC unroll 2
	for (unsigned p = 0; p < PARTS && dual; p++)
		*(doubles *)(dual + at + p * LANES) = weighted[p] / (double)windows;
}

FOR_EACH_WIDTH static void
measure_word(const struct store_block *block, size_t word, size_t window, double *dyn_unc, double *dual)
{
	for (unsigned r = 0; r < TILE; r += ROWS)
		measure_rows(block, word * TILE + r, window, dyn_unc, dual);
}

/* Has every row of the word every epoch? */
static bool
is_complete(const struct store_block *block, size_t word)
{
	for (size_t e = 0; e < block->epoch_count; e++) {
		const uint64_t *present = gold_prob(block, e)->present;

		if (!present || present[word] != UINT64_MAX)
			return false;
	}
	return true;
}

void
measures_windows(const struct store_block *block, size_t window, double *dyn_unc, double *dual)
{
	for (uint32_t first = 0; first < block->rows; first += TILE) {
		uint32_t end = block->rows - first < TILE ? block->rows : first + TILE;

		if (end == first + TILE && block->epoch_count >= window && is_complete(block, first / TILE)) {
			measure_word(block, first / TILE, window, dyn_unc, dual);
			continue;
		}
		for (uint32_t row = first; row < end; row++)
			measure_row(block, row, window, dyn_unc, dual);
	}
}
