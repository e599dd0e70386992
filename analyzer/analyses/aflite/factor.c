/*
 * factor.c: factors, inverses and eigenvalues for the curvature, without a library: it would be another thing to install,
 * for a part of the work that hardly takes time.
 *
 * Cholesky's method row by row, four columns at a time: all sums are dot products of rows, which lie one after another.
 */
#include "factor.h"

#include <math.h>
#include <string.h>

#define COLUMNS 4

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/* sums[i][j] = Σ over k < n of a[i][k] b[j][k], for two rows of a and four of b. */
static void
dots(const double *a, const double *b, size_t stride, size_t n, double sums[2][COLUMNS])
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
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += a[k] * b[k];
	return sum;
}

/* Columns from … to − 1 of row i, the columns before them being done. */
static void
finish_row(double *a, size_t stride, size_t i, size_t from, size_t to, const double *sums)
{
	double *row = a + i * stride;

	for (size_t j = from; j < to; j++)
		row[j] = (row[j] - sums[j - from] - dot(row + from, a + j * stride + from, j - from)) /
		         a[j * stride + j];
}

bool
factor_cholesky(double *a, size_t n, size_t stride)
{
	for (size_t from = 0; from < n; from += COLUMNS) {
		size_t to = from + COLUMNS < n ? from + COLUMNS : n, i = to;
		double sums[2][COLUMNS];

		for (size_t j = from; j < to; j++) {
			double *row = a + j * stride, left;

			for (size_t k = from; k < j; k++)
				row[k] = (row[k] - dot(row, a + k * stride, k)) / a[k * stride + k];
			left = row[j] - dot(row, row, j);
			if (!(left > 0) || !isfinite(left))
				return false;
			row[j] = sqrt(left);
		}
		for (; to == from + COLUMNS && i + 2 <= n; i += 2) {
			dots(a + i * stride, a + from * stride, stride, from, sums);
			finish_row(a, stride, i, from, to, sums[0]);
			finish_row(a, stride, i + 1, from, to, sums[1]);
		}
		for (; i < n; i++) {
			for (size_t j = from; j < to; j++)
				sums[0][j - from] = dot(a + i * stride, a + j * stride, from);
			finish_row(a, stride, i, from, to, sums[0]);
		}
	}
	return true;
}

/* Row i of a block that begins at `from`, whose product with the rows before the block is in row i of m, negated. */
static void
substitute(const double *lower, size_t stride, size_t i, size_t from, float *m, size_t m_stride)
{
	const double *row = lower + i * stride;
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
factor_invert(const double *lower, size_t n, size_t stride, const struct kernels *kernels, float *m, size_t m_stride,
              float *scratch)
{
	memset(m, 0, n * m_stride * sizeof(*m));
	for (size_t from = 0; from < n; from += FACTOR_BLOCK) {
		size_t to = from + FACTOR_BLOCK < n ? from + FACTOR_BLOCK : n;
		struct kernels_product product = {.a = scratch,
		                                  .b = m,
		                                  .c = m + from * m_stride,
		                                  .a_stride = m_stride,
		                                  .b_stride = m_stride,
		                                  .c_stride = m_stride,
		                                  .rows = to - from,
		                                  .depth = from,
		                                  .columns = from};

		for (size_t i = from; i < to; i++)
			for (size_t k = 0; k < from; k++)
				scratch[(i - from) * m_stride + k] = (float)-lower[i * stride + k];
		kernels->multiply(&product);
		for (size_t i = from; i < to; i++)
			substitute(lower, stride, i, from, m, m_stride);
	}
}

static void
rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
	double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
	double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;

	for (size_t k = 0; k < n; k++) {
		double x = a[k * n + p], y = a[k * n + q], v = vectors[k * n + p], w = vectors[k * n + q];

		a[k * n + p] = c * x - s * y;
		a[k * n + q] = s * x + c * y;
		vectors[k * n + p] = c * v - s * w;
		vectors[k * n + q] = s * v + c * w;
	}
	for (size_t k = 0; k < n; k++) {
		double x = a[p * n + k], y = a[q * n + k];

		a[p * n + k] = c * x - s * y;
		a[q * n + k] = s * x + c * y;
	}
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
					rotate(a, vectors, n, p, q);
	}
}
