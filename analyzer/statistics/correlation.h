/*
 * correlation.h: correlations of two lists of numbers, for `portolan compare`. Pure; accumulated in float64, in two
 * passes (mean first).
 *
 *   Pearson   r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²)                       Pearson 1895
 *   Spearman  Pearson's r of the ranks, equal values sharing the mean of their ranks   Spearman 1904
 *
 * Values are finite. The result is within [−1, 1]; NaN where it is not defined: fewer than two values, or one list
 * constant.
 */
#ifndef CORRELATION_H
#define CORRELATION_H

#include "base/sort.h"

#include <stdint.h>

double correlation_pearson(const double *x, const double *y, size_t n);

struct correlation_interval {
	double low, high;
};

/* The interval of Pearson's r of n examples, drawn independently from what is about a bivariate normal distribution:
 * tanh(artanh r ± deviations / √(n − 3)) (Fisher 1921). `deviations` is proportion_deviations(level). Fewer than four
 * examples say nothing: −1 to 1. NaN where r is. */
struct correlation_interval correlation_interval(double r, uint64_t n, double deviations);

/* Fills `ranks` with the ranks from 1 on, ascending; equal values get the mean of their ranks. `items` has room for 2 n;
 * `ranks` may be `values`. n < 2^32. */
void correlation_ranks(const double *values, size_t n, struct sort_item *items, double *ranks);

#endif
