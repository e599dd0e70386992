/*
 * factor.c: factors, inverts and diagonalises dense matrices in double precision, for curvature.c.
 *
 * Cholesky's method goes row by row, four columns at a time. So all sums are dot products of rows, whose elements lie
 * one after another. The inverse is computed in blocks of rows, most of it by the large product of the kernels.
 */
#include "factor.h"

#include <math.h>
#include <string.h>

#define COLUMNS 4

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/* sums[i][j] = Σ over k < n of a[i][k] b[j][k], for two rows of a and four of b. */
static void
factor_dot_rows(const double *a, const double *b, size_t stride, size_t n, double sums[2][COLUMNS])
{
	two part[2][COLUMNS] = {0};
	size_t k = 0;

	for (; k + 2 <= n; k += 2)
#pragma GCC unroll 4
		for (unsigned j = 0; j < COLUMNS; j++) {
			two right = *(const two *)(b + j * stride + k);

			part[0][j] += *(const two *)(a + k) * right;
			part[1][j] += *(const two *)(a + stride + k) * right;
		}
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < COLUMNS; j++) {
			sums[i][j] = part[i][j][0] + part[i][j][1];
			if (k < n)
				sums[i][j] += a[i * stride + k] * b[j * stride + k];
		}
}

static double
factor_dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += a[k] * b[k];
	return sum;
}

/* Computes the columns `from` to `to` − 1 of row i of L. `sums` are row i's products with the rows of these columns,
 * over the columns before `from`. */
static void
factor_finish_row(double *a, size_t n, size_t i, size_t from, size_t to, const double *sums)
{
	double *row = a + i * n;

	for (size_t j = from; j < to; j++)
		row[j] = (row[j] - sums[j - from] - factor_dot(row + from, a + j * n + from, j - from)) / a[j * n + j];
}

bool
factor_cholesky(double *a, size_t n)
{
	for (size_t from = 0; from < n; from += COLUMNS) {
		size_t to = from + COLUMNS < n ? from + COLUMNS : n, i = to;
		double sums[2][COLUMNS];

		for (size_t j = from; j < to; j++) {
			double *row = a + j * n, left;

			for (size_t k = from; k < j; k++)
				row[k] = (row[k] - factor_dot(row, a + k * n, k)) / a[k * n + k];
			left = row[j] - factor_dot(row, row, j);
			if (!(left > 0) || !isfinite(left))
				return false;
			row[j] = sqrt(left);
		}
		for (; to == from + COLUMNS && i + 2 <= n; i += 2) {
			factor_dot_rows(a + i * n, a + from * n, n, from, sums);
			factor_finish_row(a, n, i, from, to, sums[0]);
			factor_finish_row(a, n, i + 1, from, to, sums[1]);
		}
		for (; i < n; i++) {
			for (size_t j = from; j < to; j++)
				sums[0][j - from] = factor_dot(a + i * n, a + j * n, from);
			factor_finish_row(a, n, i, from, to, sums[0]);
		}
	}
	return true;
}

/* Finishes row i of m = L⁻¹. The row's block begins at row `from`. m already holds the row's product with the rows
 * before the block, negated. */
static void
factor_substitute(const double *row, size_t i, size_t from, float *m, size_t m_stride)
{
	float *to = m + i * m_stride, inverse = (float)(1 / row[i]);

	for (size_t k = from; k < i; k++) {
		const float *done = m + k * m_stride;
		float factor = (float)row[k];

		for (size_t f = 0; f <= k; f++)
			to[f] -= factor * done[f];
	}
	for (size_t f = 0; f < i; f++)
		to[f] *= inverse;
	to[i] = inverse;
}

void
factor_invert(const double *lower, size_t n, const struct kernels *kernels, float *m, size_t m_stride, float *scratch)
{
	memset(m, 0, n * m_stride * sizeof(*m));
	for (size_t from = 0; from < n; from += FACTOR_BLOCK) {
		size_t to = from + FACTOR_BLOCK < n ? from + FACTOR_BLOCK : n;
		struct kernels_product product = {scratch,  m_stride,  m,    m_stride, m + from * m_stride,
		                                  m_stride, to - from, from, from,     false};

		for (size_t i = from; i < to; i++)
			for (size_t k = 0; k < from; k++)
				scratch[(i - from) * m_stride + k] = (float)-lower[i * n + k];
		kernels->multiply(&product);
		for (size_t i = from; i < to; i++)
			factor_substitute(lower + i * n, i, from, m, m_stride);
	}
}

/* Rotates: (x, y) becomes (c x − s y, s x + c y). */
static void
factor_turn(double *x, double *y, double c, double s)
{
	double before = *x;

	*x = c * before - s * *y;
	*y = s * before + c * *y;
}

/* Makes a[p][q] zero by a rotation of rows and columns p and q. */
static void
factor_rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
	double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
	double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;

	for (size_t k = 0; k < n; k++) {
		factor_turn(&a[k * n + p], &a[k * n + q], c, s);
		factor_turn(&vectors[k * n + p], &vectors[k * n + q], c, s);
	}
	for (size_t k = 0; k < n; k++)
		factor_turn(&a[p * n + k], &a[q * n + k], c, s);
}

void
factor_eigen(double *a, double *vectors, size_t n)
{
	for (size_t i = 0; i < n * n; i++)
		vectors[i] = i / n == i % n;
	for (unsigned round = 0; round < 50; round++) {
		double off = 0, on = 0;

		for (size_t i = 0; i < n * n; i++)
			*(i / n == i % n ? &on : &off) += a[i] * a[i];
		if (off <= 1e-24 * on)
			return;
		for (size_t p = 0; p < n; p++)
			for (size_t q = p + 1; q < n; q++)
				if (a[p * n + q] != 0)
					factor_rotate(a, vectors, n, p, q);
	}
}
