/*
 * bootstrap.h: estimates the error of a mean or a share by the bootstrap, for `portolan groups`. Pure; float64; seeded.
 *
 * A replicate draws n of the n values with replacement. Source: Efron and Tibshirani 1993, "An Introduction to the
 * Bootstrap", ch. 6 (the bootstrap), ch. 8.3 (two samples: each is drawn from by itself) and ch. 13.3 (the percentile
 * interval).
 */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include "random.h"

/* means[r]: the mean of the r-th replicate; n ≥ 1, n < 2^32. */
void bootstrap_means(struct random_state *random, const double *values, size_t n, double *means, size_t replicates);

/* shares[c * replicates + r]: the share of category c in the r-th replicate; categories are below `count`. */
void bootstrap_shares(struct random_state *random, const int32_t *categories, size_t n, size_t count, double *shares,
                      size_t replicates);

/* Finds the interval that holds the share `level` of the replicates: sorts them in place, and takes the quantiles (1 −
 * level)/2 and (1 + level)/2, with linear interpolation between neighbours (Hyndman and Fan 1996, type 7, which is
 * NumPy's). replicates ≥ 1. */
void bootstrap_interval(double *values, size_t replicates, double level, double *low, double *high);

#endif
