/*
 * npy_read.h: opens arrays that users saved with NumPy (.npy, formats 1.0 to 3.0): feature vectors for `select` and
 * `aflite`, and lists. The data are mapped, not copied: an array may be larger than memory.
 *
 *     struct npy_array array;
 *     if (npy_open(&array, "X.npy", error) == 0 && npy_check_matrix(&array, error) == 0)
 *             … array.data, array.shape[0] rows of array.shape[1] values, row by row …
 *     npy_close(&array);
 *
 * Errors name the file, and what of its header is wrong.
 */
#ifndef NPY_READ_H
#define NPY_READ_H

#include "content.h"

#include <stdint.h>

#define NPY_DIMENSIONS_MAX 32 /* as NumPy's own */

struct npy_header {
	char kind;        /* as in NumPy: f, i, u, b, S (bytes), U (UTF-32) */
	size_t item_size; /* bytes of one value; at least 1 */
	bool is_swapped;  /* the values have several bytes, and are big-endian */
	bool is_fortran;  /* column by column */
	size_t dimensions;
	uint64_t shape[NPY_DIMENSIONS_MAX];
	uint64_t count; /* the number of values: the product of `shape` */
	size_t offset;  /* where the data begin in the file */
};

/* Reads the header; pure. An accepted header promises count × item_size bytes of data, which end before SIZE_MAX.
 * PORTOLAN_E_INVALID: the message names the field, and begins with `path`. */
int npy_parse_header(const void *bytes, size_t size, const char *path, struct npy_header *header,
                     struct portolan_error *error);

struct npy_array {
	struct npy_header header;
	const char *path;    /* the caller's */
	const uint8_t *data; /* count × item_size bytes; need not be aligned */
	/* private */
	struct content content;
};

/* Opens an array. PORTOLAN_E_INVALID: it is damaged (cut short or too long), or would have to be converted: it is
 * big-endian, or has pickled objects or records. */
int npy_open(struct npy_array *array, const char *path, struct portolan_error *error);
void npy_close(struct npy_array *array); /* may be called twice */

/* PORTOLAN_E_INVALID: the array is no matrix of float32 or float64, row by row, with at least one column. */
int npy_check_matrix(const struct npy_array *array, struct portolan_error *error);
/* As npy_check_matrix(), but accepts float16, too, and a matrix column by column (header.is_fortran). */
int npy_check_matrix_any(const struct npy_array *array, struct portolan_error *error);
/* PORTOLAN_E_INVALID: a value of the matrix is not finite; the message names the first. */
int npy_check_finite(const struct npy_array *array, struct portolan_error *error);

#endif
