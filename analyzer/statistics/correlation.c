/*
 * correlation.c: computes Pearson's correlation, and the ranks for Spearman's, for `portolan compare`.
 *
 * A list counts as constant if its values are equal. Its sum of squares does not tell this, as rounding may leave it
 * above 0.
 */
#include "correlation.h"

#include <math.h>
#include <stdbool.h>

static bool
correlation_is_constant(const double *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

static double
correlation_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

double
correlation_pearson(const double *x, const double *y, size_t n)
{
	double mean_x, mean_y, xx = 0, yy = 0, xy = 0, r;

	if (n < 2 || correlation_is_constant(x, n) || correlation_is_constant(y, n))
		return NAN;
	mean_x = correlation_mean(x, n);
	mean_y = correlation_mean(y, n);
	for (size_t i = 0; i < n; i++) {
		double a = x[i] - mean_x, b = y[i] - mean_y;

		xx += a * a;
		yy += b * b;
		xy += a * b;
	}
	r = xy / sqrt(xx * yy); /* exactly 1 for a list with itself */
	if (!isnormal(xx * yy)) /* the product overflows or vanishes */
		r = xy / (sqrt(xx) * sqrt(yy));
	return fmax(-1, fmin(1, r));
}

struct correlation_interval
correlation_interval(double r, uint64_t n, double deviations)
{
	double half;

	if (isnan(r))
		return (struct correlation_interval){NAN, NAN};
	if (n <= 3)
		return (struct correlation_interval){-1, 1};
	half = deviations / sqrt((double)(n - 3));
	return (struct correlation_interval){tanh(atanh(r) - half), tanh(atanh(r) + half)};
}

void
correlation_ranks(const double *values, size_t n, struct sort_item *items, double *ranks)
{
	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){sort_key(values[i], false), (uint32_t)i};
	sort_by_key(items, items + n, n);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && items[end].key == items[first].key; end++)
			;
		for (size_t i = first; i < end; i++)
			ranks[items[i].value] = (double)(first + end + 1) / 2; /* the mean of first + 1 … end */
	}
}
