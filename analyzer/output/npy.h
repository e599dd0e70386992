/*
 * npy.h: writes the headers of NumPy's .npy files, and texts in NumPy's form, for commands that write tables or ids as
 * npy. The format is 1.0, or 3.0 where a field name is not ASCII. The caller writes the data after the header,
 * little-endian.
 */
#ifndef NPY_H
#define NPY_H

#include "output.h"

#include <stdint.h>

#define NPY_TYPE_ROOM 24
struct npy_field {
	const char *name;
	char type[NPY_TYPE_ROOM]; /* "<f8", "<u8", "<i8", "<u4", "<U12" */
	size_t at, size;          /* where it begins in a record, and its length, in bytes */
};

/* The header of a one-dimensional structured array of `rows` records. Its length does not depend on `rows`, so it can
 * be written again once the rows are counted. */
void npy_write_records_header(struct output *output, const struct npy_field *fields, size_t count, uint64_t rows);

/* The header of a one-dimensional array of one type. */
void npy_write_header(struct output *output, const char *type, uint64_t rows);

/* Writes a field of the type "<U" with this many characters: UCS-4, filled up with zeros, from text of any bytes
 * (text_character()). */
void npy_put_text(char *at, size_t characters, const char *text, size_t length);

#endif
