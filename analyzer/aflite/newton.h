/*
 * newton.h: fits the classifiers of problems with few features: each by Newton's method, with its own Hessian, in
 * double precision.
 */
#ifndef AFLITE_NEWTON_H
#define AFLITE_NEWTON_H

#include "training.h"

/* Weights and intercepts of a classifier, at most; with more the Hessians cost more than they save. */
#define NEWTON_MOST 32

bool newton_fits(const struct problem *problem);

/* As lockstep_fit(). */
int newton_fit(const struct problem *problem, const struct training *training, float *weights,
               struct fit_report *report, struct portolan_error *error);

/* Bytes it takes. */
size_t newton_bytes(size_t largest_set, size_t columns, size_t order, unsigned threads);

#endif
