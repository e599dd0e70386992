/*
 * mixture_losses.h: finds two groups of losses as DivideMix does (Li et al. 2020, section 3.1, and its published code):
 * a mixture of two normal densities by scikit-learn's GaussianMixture with max_iter 10, tol 1e-2 and reg_covar 5e-4, of
 * losses that were brought into 0 … 1. For `portolan noise mixture --by loss`. Pure; float64.
 *
 * scikit-learn starts with the clusters that k-means finds from random centres; here the start is the division in two
 * with the least sum of squares, which k-means looks for. Unlike mixture.h it stops early, and every value counts for
 * itself.
 */
#ifndef MIXTURE_LOSSES_H
#define MIXTURE_LOSSES_H

#include "mixture.h"

/* Fits the groups to n values, which it sorts. False: they are all alike. `converged` is false after ten steps. */
bool mixture_fit_losses(double *values, size_t n, struct mixture *mixture);

/* The share of the density that the group with the higher mean has at a value: 1 − the probability that DivideMix calls
 * clean. */
double mixture_losses_high_share(const struct mixture *mixture, double value);

#endif
