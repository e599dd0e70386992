/*
 * curvature.h: the inverse of a matrix that is near the Hessian of every classifier of a phase: what makes steps long
 * and few.
 *
 * The Hessian of classifier j, Σ over its training set of (diag p_i − p_i p_iᵀ) ⊗ x_i x_iᵀ + λ P ⊗ D (D: ones, but zero
 * for the intercept), is taken to be A ⊗ G + λ P ⊗ D, with G = Σ u_i x_i x_iᵀ, u_i = 1 − Σ p², weighted so that it
 * has the size of a training set, and A the mean of diag p − p pᵀ. With T such that Tᵀ A T = I and Tᵀ P T = diag σ its
 * inverse is (T ⊗ I) diag_k((G + λ σ_k D)⁻¹) (Tᵀ ⊗ I): classes − 1 matrices of features, not one of both. p is that of
 * one classifier for all, on rows drawn once.
 */
#ifndef AFLITE_CURVATURE_H
#define AFLITE_CURVATURE_H

#include "problem.h"

struct curvature {
	size_t columns, order, stride; /* classes − 1; features + 1; floats of a row */
	size_t factor_count;           /* columns, or 1: one for all, where so many would take too much memory */
	float *factors;    /* factor_count pairs M, Mᵀ of order × stride, with (G + λ σ_k D)⁻¹ = Mᵀ M */
	double *transform; /* T: columns × columns, row by row */
};

/* Bytes it keeps, and needs in addition while it is made. */
size_t curvature_bytes(size_t columns, size_t order, unsigned threads, size_t *scratch);

int curvature_init(struct curvature *curvature, size_t columns, size_t order, struct portolan_error *error);
/* Floats in `factors`. */
size_t curvature_length(const struct curvature *curvature);
void curvature_free(struct curvature *curvature); /* may be called twice */

/*
 * At the classifier `weights` (columns × stride; no class is lacking), for training sets of `size` rows, from the
 * `count` rows in `rows`. PORTOLAN_E_MEMORY.
 */
int curvature_make(struct curvature *curvature, const struct problem *problem, const float *weights, double size,
                   const uint32_t *rows, size_t count, struct portolan_error *error);

/* How many vectors curvature_apply() takes at once, at most: always as many where there are, so that the result does not
 * depend on how the work is shared. */
#define CURVATURE_BATCH 12
size_t curvature_batch(const struct curvature *curvature);

/* vectors[v] = H⁻¹ vectors[v], for `count` ≤ curvature_batch() vectors of columns × stride. `scratch`: 64-byte aligned,
 * curvature_scratch() floats. */
void curvature_apply(const struct curvature *curvature, const struct kernels *kernels, double *const *vectors,
                     size_t count, float *scratch);
size_t curvature_scratch(const struct curvature *curvature);

#endif
