/*
 * regression.h: the straight line that explains y by x best (least squares), and the band that its height lies in. For
 * `portolan compare --scatter`. Pure; float64, in two passes (mean first). Values are finite.
 *
 *   line  ŷ(x) = ȳ + b (x − x̄), with b = Σ (x − x̄)(y − ȳ) / Σ (x − x̄)²
 *   band  ŷ(x) ± t s √(1/n + (x − x̄)² / Σ (x − x̄)²), with s² = Σ (y − ŷ)² / (n − 2): at each x, the
 *         interval for the mean of y there, where t is Student's quantile for n − 2 degrees of freedom
 */
#ifndef REGRESSION_H
#define REGRESSION_H

#include <stddef.h>

struct regression {
	double slope, mean_x, mean_y;
	double squares; /* Σ (x − x̄)² */
	double error;   /* s; NaN for n < 3 */
	size_t n;
};

/* A slope that is NaN: there is no line, as n < 2, or x is constant. */
struct regression regression_of(const double *x, const double *y, size_t n);

/* ŷ(x), and half the height of the band there: `deviations` is t. */
double regression_line(const struct regression *regression, double x);
double regression_half_band(const struct regression *regression, double x, double deviations);

/* Student's t: how many standard errors from the mean hold the share `level` (0 < level < 1), with `freedom` > 0 degrees
 * of freedom: 1.96 of 0.95 for many, 12.7 for one. */
double student_deviations(double level, double freedom);

#endif
