/* matrix_parts.h: what the files of matrix.h share. Private to them. */
#ifndef AFLITE_MATRIX_PARTS_H
#define AFLITE_MATRIX_PARTS_H

#include "file_rows.h"
#include "matrix.h"

#include <portolan/portolan.h>

#define MATRIX_PART 2048 /* rows that one thread reads at once */

struct reading {
	const struct matrix_source *source;
	size_t features, stride;
	bool is_direct; /* the file's rows are floats in whole registers: they can be looked at where they lie */
	struct file_rows *rows; /* by slot */
	/* survey */
	struct survey *slots, *all;
	/* load */
	struct matrix *matrix;
	const uint32_t *examples;
};

struct survey {
	double *sums, *shifts; /* of values, or of squares and of the values these are of */
	float *part, *lowest, *highest, *row;
	uint64_t digest;
};

/* The features of an example, given as the file has them, as they are worked with. */
void matrix_centre_row(const struct reading *reading, const uint8_t *raw, float *to);

/* Fills source->scale; slots, all and rows are those of the survey, which is over. PORTOLAN_E_MEMORY. */
int matrix_measure_scales(struct reading *reading, struct matrix_source *source, struct portolan_error *error);

#endif
