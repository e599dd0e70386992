/* token_statistics.c: computes from the counts of one token how strongly it gives the label away (p*, z*), and how
 * likely chance alone does as much (the binomial tail), for ranking.c. */
#include "token_statistics.h"

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

/* The continued fraction of I_x(a, b), which converges fast for x < (a + 1) / (a + b + 2), by Lentz's method (DLMF
 * 8.17.22; Thompson and Barnett 1986). */
static double
beta_fraction(double a, double b, double x)
{
	double numerator = 1, denominator = 1 / (1 - (a + b) * x / (a + 1)), product = denominator, step = 0;

	for (double m = 1; fabs(step - 1) > 1e-15 && m < 1e6; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		denominator = 1 / (1 + even * denominator);
		numerator = 1 + even / numerator;
		product *= denominator * numerator;
		denominator = 1 / (1 + odd * denominator);
		numerator = 1 + odd / numerator;
		step = denominator * numerator;
		product *= step;
	}
	return product;
}

double
binomial_tail(double k, double n, double p)
{
	double a = k, b = n - k + 1, factor;
	int sign;

	if (k <= 0)
		return 1;
	factor = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(p) + b * log1p(-p));
	return p < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, p) / a
	                                 : 1 - factor * beta_fraction(b, a, 1 - p) / b;
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
