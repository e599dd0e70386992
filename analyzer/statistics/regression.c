/* regression.c: fits a straight line by least squares, and computes the band about it. */
#include "regression.h"

#include "beta.h"

#include <math.h>

struct regression
regression_of(const double *x, const double *y, size_t n)
{
	struct regression fit = {.slope = NAN, .error = NAN, .n = n};
	double products = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		fit.mean_x += x[i] / (double)n;
		fit.mean_y += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		fit.squares += (x[i] - fit.mean_x) * (x[i] - fit.mean_x);
		products += (x[i] - fit.mean_x) * (y[i] - fit.mean_y);
	}
	for (size_t i = 1; i < n && isnan(fit.slope); i++)
		if (x[i] != x[0]) /* rounding may leave a sum of squares above 0 where all are equal */
			fit.slope = products / fit.squares;
	for (size_t i = 0; i < n; i++) {
		double off = y[i] - regression_line(&fit, x[i]);

		rest += off * off;
	}
	if (n > 2)
		fit.error = sqrt(rest / (double)(n - 2));
	return fit;
}

double
regression_line(const struct regression *regression, double x)
{
	return regression->mean_y + regression->slope * (x - regression->mean_x);
}

double
regression_half_band(const struct regression *regression, double x, double deviations)
{
	double off = x - regression->mean_x;

	return deviations * regression->error * sqrt(1 / (double)regression->n + off * off / regression->squares);
}

/* Bisects log t: P(|T| > t) = I_x(ν/2, 1/2), with x = ν / (ν + t²). */
double
student_deviations(double level, double freedom)
{
	double low = -700, high = 350; /* t² is finite */

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2, t = exp(middle);

		*(beta_incomplete(freedom / 2, 0.5, freedom / (freedom + t * t)) > 1 - level ? &low : &high) = middle;
	}
	return exp((low + high) / 2);
}
