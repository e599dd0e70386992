/*
 * mixture.h: finds two overlapping groups in a list of numbers by expectation and maximisation (EM), for `portolan
 * noise`: do the examples of low confidence (or AUM) form a group of their own? Pure; float64.
 *
 * Beta: densities x^(α−1) (1−x)^(β−1) / B(α, β) on (0, 1); values are first brought into [1e-6, 1 − 1e-6]. The M step
 * takes α = m s and β = (1−m) s, s = m (1−m)/v − 1, from a group's weighted mean m and variance v.
 * Source: Arazo et al. 2019, "Unsupervised label noise modeling and loss correction", §3.1 (of the loss, there).
 *
 * Gaussian: normal densities; the M step is that of maximum likelihood. Source: Dempster, Laird and Rubin 1977.
 *
 * The start is deterministic: the low group has the values below `split` (if these are none or all, those below the
 * mean). The iteration ends when no share moves by more than 1e-8, and no mean or standard deviation by more than 1e-8
 * of the whole's standard deviation, or after MIXTURE_STEPS_MAX steps.
 *
 * More than 4096 values are gathered in 4096 equal cells. The values of a cell share one score; means and variances
 * stay those of the values. So a step costs the same for any number of values. (The cells take 100 KB of the stack.)
 *
 * Guards: a group's variance is kept at 1e-6 of the whole's or more, and (Beta) below m (1−m), so that no group closes
 * around one value.
 */
#ifndef MIXTURE_H
#define MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#define MIXTURE_STEPS_MAX 20000

enum mixture_kind { MIXTURE_BETA, MIXTURE_GAUSSIAN };

struct mixture_group {
	double share; /* of all values */
	double mean, variance;
	double alpha, beta; /* Beta only */
};

struct mixture {
	enum mixture_kind kind;
	struct mixture_group low, high; /* by their means */
	int steps;
	bool converged;
};

/* Fits the two groups to n finite values. False: there are no two groups, as there are fewer than 4 values, all are
 * (nearly) equal, or one group holds less than half a value's worth in the end. */
bool mixture_fit(enum mixture_kind kind, const double *values, size_t n, double split, struct mixture *mixture);

/* The low group's share of the density at a value, from 0 to 1. It is a score, and a probability only as far as there
 * are two such groups. It never grows with the value. The share of the densities themselves would turn round in a tail,
 * where the wider group always wins; from that turn on, this one stays constant. */
double mixture_low_share(const struct mixture *mixture, double value);

/* The density of one group, times its share: the two add up to the mixture's. */
double mixture_density(const struct mixture *mixture, const struct mixture_group *group, double value);

#endif
