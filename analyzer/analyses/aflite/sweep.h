/* sweep.h: computes, in one pass over the rows, the losses of all classifiers of a phase of AFLite, and the gradients
 * of these losses. lockstep.c searches by them for the classifiers' weights. */
#ifndef AFLITE_SWEEP_H
#define AFLITE_SWEEP_H

#include "training.h"

struct sweep {
	const struct problem *problem;
	const struct training *training;
	const float *weights; /* sets × problem_columns() × stride */
	const bool *active;   /* by set: the sweep leaves the others out */
	double *gradients;    /* sets × columns × stride: of the losses alone, without the penalty */
	double *losses;       /* by set: the sum over the set's rows */
};

/* Computes gradients and losses of the active sets. The bits do not depend on the number of threads. */
void sweep_run(const struct sweep *sweep);

/* The bytes that a sweep takes. */
size_t sweep_bytes(size_t sets, size_t columns, size_t stride, unsigned threads);

#endif
