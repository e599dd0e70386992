/*
 * matrix_source.h: reads the file of features that `portolan aflite` gets, as its classifiers take them: each column
 * less its mean, and divided by its standard deviation if that was asked for.
 *
 * A linear classifier's intercept is not penalised, so subtracting a constant from a column changes the intercept and
 * nothing else. But more of the digits that matter fit into single precision.
 */
#ifndef AFLITE_MATRIX_SOURCE_H
#define AFLITE_MATRIX_SOURCE_H

#include "files/npy_read.h"
#include "kernels.h"

#include <portolan/portolan.h>

#define MATRIX_PART 2048 /* rows that one thread reads at once */

struct matrix_source {
	const struct npy_array *array; /* which npy_check_matrix_any() has accepted */
	const uint32_t *rows;          /* by example: its row of the array; NULL: the same number */
	size_t count;                  /* of examples */
	const struct kernels *kernels;
	unsigned threads;
	bool standardise; /* whether columns are divided by their standard deviation */
	/* by matrix_survey() */
	float *centre; /* by column: its mean, rounded; of a constant column, its value */
	float *scale;  /* by column: the factor of its values, 1 for a constant column; NULL: not standardised */
	size_t constant_columns, first_constant;
	uint64_t digest; /* of the examples' bytes in the file */
};

/* Fills centres, scales, constant columns and the digest, from all examples. Ends the program where a value is not
 * finite, or too large for single precision. */
void matrix_survey(struct matrix_source *source);
void matrix_source_free(struct matrix_source *source); /* may be called twice */

struct matrix_reader {
	const struct matrix_source *source;
	bool is_direct;         /* can the kernels read the file's rows where they lie? */
	struct file_rows *rows; /* by slot of the work */
};

/* Prepares to read `count` rows, after matrix_survey(): row i is example examples[i], or example i if `examples` is
 * NULL. */
void matrix_reader_init(struct matrix_reader *reader, const struct matrix_source *source, const uint32_t *examples,
                        size_t count);
void matrix_reader_free(struct matrix_reader *reader);

/* Writes the features of row i as the file has them, in single precision, to `to`. */
void matrix_read_raw(const struct matrix_reader *reader, unsigned slot, size_t i, float *to);

/* Writes the features of row i, centred and scaled, to `to`. */
void matrix_read_row(const struct matrix_reader *reader, unsigned slot, size_t i, float *to);

#endif
