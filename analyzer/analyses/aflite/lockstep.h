/*
 * lockstep.h: fits a linear classifier to each training set of a phase of AFLite, all of them together, for
 * filter_fit.c.
 *
 * Each search for a classifier's weights is L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4); all
 * begin with the same matrix (curvature.h). An iteration is one sweep over the rows, in which each classifier whose
 * search is not over tries one point. A search is over when its objective, divided by the rows of the training set, is
 * likely to be within `tolerance` of the minimum after the next step.
 */
#ifndef AFLITE_LOCKSTEP_H
#define AFLITE_LOCKSTEP_H

#include "curvature.h"
#include "training.h"

struct lockstep {
	double tolerance; /* of a set's objective divided by its rows */
	size_t iterations_most;
};
#define LOCKSTEP_TOLERANCE 1e-7

/* Fits the classifiers. `weights` is sets × problem_columns() × stride, 64-byte aligned: where the searches begin, and then
 * what they found. */
struct fit_report lockstep_fit(const struct lockstep *lockstep, const struct problem *problem,
                               const struct training *training, const struct curvature *curvature, float *weights);

/* The bytes that lockstep_fit() takes beside weights and sweeps. */
size_t lockstep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

/* Adds the penalty's part to the gradient of set `set`; returns the penalty. Pure; also for tests. */
double lockstep_penalise(const struct problem *problem, const struct training *training, size_t set,
                         const float *weights, double *gradient);

#endif
