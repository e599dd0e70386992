/* token_statistics.c: computes from the counts of one token how strongly it gives the label away (p*, z*), and how
 * likely chance alone does as much (the binomial tail), for ranking.c. */
#include "token_statistics.h"

#include "statistics/beta.h"

#include <math.h>

struct token_statistic
token_statistic(const uint64_t *counts, const double *priors, size_t labels)
{
	struct token_statistic statistic = {.p_star = NAN, .z_star = NAN, .tail = NAN};

	for (size_t l = 0; l < labels; l++)
		statistic.n += counts[l];
	for (size_t l = 0; l < labels && statistic.n > 0; l++) {
		double n = (double)statistic.n, p = (double)counts[l] / n;
		double z = (p - priors[l]) / sqrt(priors[l] * (1 - priors[l]) / n);

		if (!(z <= statistic.z_star)) {
			statistic.p_star = p;
			statistic.z_star = z;
			statistic.label = (uint32_t)l;
		}
	}
	if (statistic.n > 0)
		statistic.tail =
		        binomial_tail((double)counts[statistic.label], (double)statistic.n, priors[statistic.label]);
	return statistic;
}

double
binomial_tail(double k, double n, double p)
{
	return k <= 0 ? 1 : beta_incomplete(k, n - k + 1, p);
}

/* Finds k by bisection, down to the precision of doubles. */
double
binomial_line(double n, double p, double level)
{
	double low = 0, high = n;

	if (binomial_tail(n, n, p) > level)
		return NAN;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (binomial_tail(middle, n, p) > level)
			low = middle;
		else
			high = middle;
	}
	return high;
}
