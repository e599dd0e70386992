/*
 * lockstep.h: fits the classifiers of all training sets together.
 *
 * L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4) whose first matrix is a curvature.h: every
 * iteration is one sweep over the rows, in which each classifier that is not done tries one point. One is done when,
 * after its next step, its objective is likely to be within `tolerance` of the minimum, for each row it is trained on.
 */
#ifndef AFLITE_LOCKSTEP_H
#define AFLITE_LOCKSTEP_H

#include "curvature.h"
#include "training.h"

struct lockstep {
	double tolerance; /* of the mean objective */
	size_t iterations_most;
};
#define LOCKSTEP_TOLERANCE 1e-7

/* `weights`, sets × (classes − 1) × stride and 64-byte aligned, are where the search begins, and then its result. */
int lockstep_fit(const struct lockstep *lockstep, const struct problem *problem, const struct training *training,
                 const struct curvature *curvature, float *weights, struct fit_report *report,
                 struct portolan_error *error);

/* Bytes it takes beside weights and sweep. */
size_t lockstep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

/* The penalty's part: adds it to the gradient of set `set`, and answers its value. Pure; also for tests. */
double lockstep_penalise(const struct problem *problem, const struct training *training, size_t set,
                         const float *weights, double *gradient);

#endif
