/* factor.h: the little linear algebra that curvature.h needs. Pure; matrices row by row. */
#ifndef AFLITE_FACTOR_H
#define AFLITE_FACTOR_H

#include "kernels.h"

/* The lower triangle of a becomes L with L Lᵀ = a; only that triangle is read, and what is above it is left as it is.
 * False: it is not positive definite; the triangle is spoilt then. `stride`: doubles from one row to the next. */
bool factor_cholesky(double *a, size_t n, size_t stride);

/* m = L⁻¹, all of it (zero above the diagonal), in single precision; its stride and that of `scratch`, which has room
 * for FACTOR_BLOCK rows, is m_stride: a multiple of KERNELS_STRIDE; both are 64-byte aligned. */
#define FACTOR_BLOCK 48
void factor_invert(const double *lower, size_t n, size_t stride, const struct kernels *kernels, float *m,
                   size_t m_stride, float *scratch);

/* Eigenvalues and orthonormal eigenvectors (the columns of `vectors`) of a symmetric a, by Jacobi's rotations; for
 * small n. a's diagonal becomes the values; all of it is overwritten. */
void factor_eigen(double *a, double *vectors, size_t n);

#endif
