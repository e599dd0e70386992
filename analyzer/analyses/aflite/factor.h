/* factor.h: the linear algebra that curvature.c needs: Cholesky's factor, its inverse, eigenvalues. Pure; a matrix lies
 * row by row. */
#ifndef AFLITE_FACTOR_H
#define AFLITE_FACTOR_H

#include "kernels.h"

/* The lower triangle of the n × n matrix `a` becomes L with L Lᵀ = a. The rest of `a` is neither read nor written. False: `a`
 * is not positive definite, and the triangle is lost. */
bool factor_cholesky(double *a, size_t n);

/* m = L⁻¹ for the n × n triangle `lower`, in single precision, with zeroes above the diagonal. Rows of m and of `scratch`,
 * which has room for FACTOR_BLOCK of them, are m_stride floats (a multiple of KERNELS_STRIDE), 64-byte aligned. */
#define FACTOR_BLOCK 48
void factor_invert(const double *lower, size_t n, const struct kernels *kernels, float *m, size_t m_stride,
                   float *scratch);

/* Eigenvalues and orthonormal eigenvectors of the symmetric n × n matrix `a`, for small n, by Jacobi's rotations. The
 * diagonal of `a` becomes the eigenvalues, the rest of it is lost. The columns of `vectors` become the eigenvectors. */
void factor_eigen(double *a, double *vectors, size_t n);

#endif
