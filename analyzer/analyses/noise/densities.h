/*
 * densities.h: draws the pictures of `noise fit` and `noise mixture`. For `noise fit`: the distributions of confidence
 * and variability of the examples whose labels were flipped on purpose, and of the others, in the run after the flip
 * and, if it is given, in the run before (Swayamdipta et al. 2020, Figure 4). For `noise mixture`: that of confidence or AUM of all examples, with the two groups that
 * were found in it.
 */
#ifndef DENSITIES_H
#define DENSITIES_H

#include "suspects/flips.h"
#include "measures/dynamics.h"
#include "plot/picture.h"
#include "statistics/mixture.h"

struct densities_run {
	const struct dynamics *dynamics;
	const struct flips *flips; /* the flips, with rows of this run */
};

/* Draws for `noise fit` a panel for each of the measures, which both runs have. `before`: NULL: none. `picture` has
 * passed picture_check(). */
#define DENSITIES_MEASURES (MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY))
void densities_draw_flips(const struct densities_run *before, const struct densities_run *after,
                          const struct picture *picture);

/* Draws for `noise mixture` the n finite values of a measure, and the two groups. `picture` has passed
 * picture_check(). */
void densities_draw_mixture(const char *run, const char *measure, const double *values, size_t n,
                            const struct mixture *mixture, const struct picture *picture);

#endif
