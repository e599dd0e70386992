/*
 * matrix.h: the features of the examples that are left, in memory: single precision, each column less its mean, and
 * over its standard deviation if that was asked for; a column of ones (the intercept's) after them.
 *
 * Subtracting a constant from a column changes a linear classifier's intercept and nothing else, as that is not
 * penalised; what is left keeps more of its digits in single precision.
 */
#ifndef AFLITE_MATRIX_H
#define AFLITE_MATRIX_H

#include "files/npy_read.h"
#include "kernels.h"

struct matrix {
	float *values; /* rows × stride, 64-byte aligned */
	size_t rows, stride, features;
	size_t bytes; /* mapped */
};

/* Floats of a row with so many features. */
size_t matrix_stride(size_t features);

/* The file that it comes from. */
struct matrix_source {
	const struct npy_array *array; /* see npy_check_features() */
	const uint32_t *rows;          /* of the array: example i's; NULL: i */
	size_t count;                  /* examples */
	const struct kernels *kernels;
	unsigned threads;
	bool standardise; /* columns are divided by their standard deviation */
	/* by matrix_survey() */
	float *centre; /* by column: about its mean; of a constant column, its value */
	float *scale;  /* NULL: not standardised; else what its values are multiplied by; 1 of a constant column */
	size_t constant_columns, first_constant;
	uint64_t digest; /* of the examples' bytes in the file */
};

/* PORTOLAN_E_INVALID: a value is not finite, or too large for single precision. */
int matrix_survey(struct matrix_source *source, struct portolan_error *error);
void matrix_source_free(struct matrix_source *source); /* may be called twice */

/* Row i becomes example examples[i], `count` of them; NULL: example i. After matrix_survey(). */
int matrix_load(struct matrix *matrix, const struct matrix_source *source, const uint32_t *examples, size_t count,
                struct portolan_error *error);
void matrix_free(struct matrix *matrix); /* may be called twice */

static inline const float *
matrix_row(const struct matrix *matrix, size_t row)
{
	return matrix->values + row * matrix->stride;
}

/* Asks for the row in the second-level cache; nothing where there is no such row. Inlined always, as names_prefetch().
 */
static inline __attribute__((always_inline)) void
matrix_fetch_row(const struct matrix *matrix, size_t row)
{
	for (size_t f = 0; row < matrix->rows && f < matrix->stride; f += KERNELS_STRIDE)
		__builtin_prefetch(matrix_row(matrix, row) + f, 0, 2);
}

#endif
