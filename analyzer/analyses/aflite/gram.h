/* gram.h: adds up the sums that curvature.c makes its matrices of: the products x xᵀ of rows, weighted by how unsure a
 * classifier is of each row, and the covariance of its probabilities. */
#ifndef AFLITE_GRAM_H
#define AFLITE_GRAM_H

#include "problem.h"

struct gram {
	const struct problem *problem;
	const float *weights; /* the classifier's: columns × stride */
	const uint32_t *rows; /* `count` rows of the matrix */
	size_t count;
	size_t columns, order, stride; /* problem_columns(); features + 1; floats of a row */
	double *product;               /* order × order, the upper triangle: Σ (1 − Σ p²) x xᵀ */
	double *covariance;            /* columns × columns: Σ diag p − p pᵀ */
	double weight;                 /* Σ 1 − Σ p² */
};

/* Of a support vector machine, 1 − Σ p² and diag p − p pᵀ are replaced by the weights that curvature.h names.
 *
 * Adds what the rows contribute to product, covariance and weight, which the caller has set to zero. The bits do not
 * depend on the number of threads. */
void gram_make(struct gram *gram);

/* The bytes that gram_make() takes. */
size_t gram_bytes(size_t columns, size_t order, size_t stride, unsigned threads);

#endif
