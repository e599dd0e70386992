/*
 * beta.c: for the DUAL rule of `portolan select` that prefers easier examples at small sizes (beta.h): weighs examples,
 * and draws them. It computes with logarithms, as the densities of nearly certain examples are beyond the range of
 * numbers.
 */
#include "beta.h"

#include "statistics/random.h"
#include "statistics/top.h"

#include <math.h>

/* Computes μ; from fewer than ten examples if there are fewer scores. */
static double
anchor_confidence(const double *confidence, const double *dual, const uint32_t *order, size_t n)
{
	struct sort_item items[2 * BETA_ANCHORS];
	size_t most = n < BETA_ANCHORS ? n : BETA_ANCHORS, count = 0;
	double sum = 0;

	top_of_values(dual, true, order, n, most, items);
	for (size_t i = 0; i < most; i++) {
		if (isnan(dual[items[i].value]))
			continue;
		sum += confidence[items[i].value];
		count++;
	}
	return count > 0 ? sum / (double)count : 0;
}

void
beta_log_weights(const double *confidence, const double *dual, const uint32_t *order, size_t n, double kept, double c,
                 double *weights)
{
	double b = 15 * (1 - anchor_confidence(confidence, dual, order, n)) * (1 - pow(1 - kept, c)), a = 16 - b;

	for (size_t i = 0; i < n; i++) {
		uint32_t row = order[i];

		if (dual[row] > 0)
			weights[row] =
			        (a - 1) * log(confidence[row]) + (b - 1) * log1p(-confidence[row]) + log(dual[row]);
		else
			weights[row] = -(double)INFINITY;
	}
}

void
beta_draw(const uint32_t *order, size_t n, uint64_t seed, double *weights)
{
	struct random_state random;

	random_seed(&random, seed);
	for (size_t i = 0; i < n; i++) {
		double uniform = ((double)(random_next(&random) >> 11) + 0.5) * 0x1p-53;

		weights[order[i]] -= log(-log(uniform));
	}
}
