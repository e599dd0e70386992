/*
 * curvature.h: the inverse of a matrix that is near the Hessian of every classifier of a phase of AFLite, for
 * lockstep.c. Searches that multiply their gradients by it take long steps, and few of them.
 *
 * The Hessian of classifier j is Σ (diag p_i − p_i p_iᵀ) ⊗ x_i x_iᵀ + λ P ⊗ D, the sum being over its training set. D
 * is the unit matrix, but zero for the intercept. The Hessian is taken to be A ⊗ G + λ P ⊗ D. There, G = Σ u_i x_i x_iᵀ
 * with u_i = 1 − Σ p², scaled to the size of a training set, and A is the mean of diag p − p pᵀ. With T such that Tᵀ A
 * T = I and Tᵀ P T = diag σ, the inverse is (T ⊗ I) diag_k((G + λ σ_k D)⁻¹) (Tᵀ ⊗ I). That takes classes − 1 matrices
 * of features, not one matrix of both. One classifier's p stands for that of all; the sums are over rows that are drawn
 * once.
 *
 * Of a support vector machine (problem.h) there is one Hessian for each class c, 2 Σ x_i x_iᵀ + λ D, the sum being over
 * the rows whose loss is not 0. So u_i is twice the number of classes in which row i has a loss, A is diagonal, with
 * twice the share of rows that have a loss, and P = I.
 */
#ifndef AFLITE_CURVATURE_H
#define AFLITE_CURVATURE_H

#include "problem.h"

struct curvature {
	size_t columns, order, stride; /* problem_columns(); features + 1; floats of a row */
	size_t factor_count;           /* columns; or 1, if one pair of factors serves all columns */
	float *factors;    /* factor_count pairs M, Mᵀ of order × stride, with (G + λ σ_k D)⁻¹ = Mᵀ M */
	double *transform; /* T: columns × columns, row by row */
};

/* The bytes that a curvature keeps. *scratch becomes the bytes that curvature_make() takes beside them while it
 * runs. */
size_t curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch);

void curvature_init(struct curvature *curvature, size_t columns, size_t order);
/* The floats in `factors`. */
size_t curvature_length(const struct curvature *curvature);
void curvature_free(struct curvature *curvature); /* may be called twice */

/*
 * Computes the curvature at the classifier `weights` (columns × stride; no class is lacking) from `count` rows of the
 * matrix, for training sets of `size` rows. PORTOLAN_E_INVALID: a probability is no number.
 */
int curvature_make(struct curvature *curvature, const struct problem *problem, const float *weights, double size,
                   const uint32_t *rows, size_t count, struct portolan_error *error);

/* curvature_batch(): the most vectors that curvature_apply() takes at once, CURVATURE_BATCH or fewer. Callers pass as
 * many as there are, up to this number; then the result does not depend on how the work is shared. */
#define CURVATURE_BATCH 12
size_t curvature_batch(const struct curvature *curvature);

/* vectors[v] = H⁻¹ vectors[v], for `count` ≤ curvature_batch() vectors of columns × stride. `scratch` has
 * curvature_scratch() floats, 64-byte aligned. */
void curvature_apply(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors,
                     size_t count, float *scratch);
size_t curvature_scratch(const struct curvature *curvature);

#endif
