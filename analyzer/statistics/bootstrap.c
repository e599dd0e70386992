/*
 * bootstrap.c: draws the replicates (samples from a sample) from which `portolan groups` estimates the error of a mean
 * or a share.
 *
 * Nearly all of the time goes into drawing random numbers below n. So the draw avoids the division of random_below():
 * it multiplies and shifts, and rejects numbers that would come once too often (Lemire 2019, "Fast random integer
 * generation in an interval").
 */
#include "bootstrap.h"

#include <math.h>
#include <stdlib.h>

/* Draws a number below n. */
static size_t
bootstrap_draw(struct random_state *random, uint32_t n)
{
	uint64_t product = (random_next(random) >> 32) * n;

	if ((uint32_t)product < n) {
		uint32_t uneven = -n % n;

		while ((uint32_t)product < uneven)
			product = (random_next(random) >> 32) * n;
	}
	return (size_t)(product >> 32);
}

void
bootstrap_means(struct random_state *random, const double *values, size_t n, double *means, size_t replicates)
{
	for (size_t r = 0; r < replicates; r++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += values[bootstrap_draw(random, (uint32_t)n)];
		means[r] = sum / (double)n;
	}
}

void
bootstrap_shares(struct random_state *random, const int32_t *categories, size_t n, size_t count, double *shares,
                 size_t replicates)
{
	for (size_t r = 0; r < replicates; r++) {
		for (size_t c = 0; c < count; c++)
			shares[c * replicates + r] = 0;
		for (size_t i = 0; i < n; i++)
			shares[(size_t)categories[bootstrap_draw(random, (uint32_t)n)] * replicates + r]++;
		for (size_t c = 0; c < count; c++)
			shares[c * replicates + r] /= (double)n;
	}
}

static int
bootstrap_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
bootstrap_quantile(const double *sorted, size_t n, double at)
{
	double position = at * (double)(n - 1);
	size_t below = (size_t)floor(position);
	double part = position - (double)below;

	return below + 1 < n ? sorted[below] + part * (sorted[below + 1] - sorted[below]) : sorted[n - 1];
}

void
bootstrap_interval(double *values, size_t replicates, double level, double *low, double *high)
{
	qsort(values, replicates, sizeof(*values), bootstrap_compare);
	*low = bootstrap_quantile(values, replicates, (1 - level) / 2);
	*high = bootstrap_quantile(values, replicates, (1 + level) / 2);
}
