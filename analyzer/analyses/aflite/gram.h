/*
 * gram.h: products of a problem's rows with themselves, weighted by how unsure a classifier is of each: what the
 * curvature is made of.
 */
#ifndef AFLITE_GRAM_H
#define AFLITE_GRAM_H

#include "problem.h"

struct gram {
	const struct problem *problem;
	const float *weights;          /* of the classifier: columns × stride */
	const uint32_t *rows;          /* of the matrix, */
	size_t count;                  /* so many */
	size_t columns, order, stride; /* classes − 1; features + 1; floats of a row */
	struct gram_slot *slots;       /* private */
	double *product;               /* order × order; the upper triangle: Σ (1 − Σ p²) x xᵀ */
	double *covariance;            /* columns × columns: Σ diag p − p pᵀ */
	double weight;                 /* Σ 1 − Σ p² */
};

/* Fills product, covariance and weight, which the caller has set to zero, from the rows. The same bits whatever the
 * number of threads. PORTOLAN_E_MEMORY. */
int gram_make(struct gram *gram, struct portolan_error *error);

/* Bytes it takes beside these. */
size_t gram_bytes(size_t columns, size_t order, size_t stride, unsigned threads);

#endif
