/* token_statistics.c: see token_statistics.h. */
#include "token_statistics.h"

#include <math.h>

struct token_statistic
token_statistic(const uint64_t *counts, const double *priors, size_t labels)
{
	struct token_statistic statistic = {.p_star = NAN, .z_star = NAN};

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
	return statistic;
}

/* Halved until doubles end: there is one root, as erfc falls everywhere. */
double
normal_upper_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) / 2 > p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double
bonferroni_z(double level, double tests)
{
	return normal_upper_quantile(level / (tests > 1 ? tests : 1));
}
