/* beta.c: computes the incomplete beta function by its continued fraction. */
#include "beta.h"

#include <math.h>

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
beta_incomplete(double a, double b, double x)
{
	double factor;
	int sign;

	if (x <= 0 || x >= 1)
		return x > 0;
	factor = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, x) / a
	                                 : 1 - factor * beta_fraction(b, a, 1 - x) / b;
}
