/*
 * matrix.h: holds in memory the features of the examples that AFLite has not removed yet, as its classifiers multiply
 * them: in single precision, centred and scaled (matrix_source.h). A row has a 1 after its features, for the intercept.
 */
#ifndef AFLITE_MATRIX_H
#define AFLITE_MATRIX_H

#include "matrix_source.h"

struct matrix {
	float *values; /* rows × stride, 64-byte aligned */
	size_t rows, stride, features;
	size_t bytes; /* of the mapping that holds the values */
};

/* The floats of a row with this many features. */
static inline size_t
matrix_stride(size_t features)
{
	return kernels_round(features + 1);
}

/* Loads `count` rows, after matrix_survey(): row i is example examples[i], or example i if `examples` is NULL. */
void matrix_load(struct matrix *matrix, const struct matrix_source *source, const uint32_t *examples, size_t count);
void matrix_free(struct matrix *matrix); /* may be called twice */

static inline const float *
matrix_row(const struct matrix *matrix, size_t row)
{
	return matrix->values + row * matrix->stride;
}

/* Fetches the row into the second-level cache; does nothing if there is no such row. Always inlined: gcc 12 removes a
 * call of a function that returns and changes nothing, although it prefetches. */
static inline __attribute__((always_inline)) void
matrix_fetch_row(const struct matrix *matrix, size_t row)
{
	for (size_t f = 0; row < matrix->rows && f < matrix->stride; f += KERNELS_STRIDE)
		__builtin_prefetch(matrix_row(matrix, row) + f, 0, 2);
}

#endif
