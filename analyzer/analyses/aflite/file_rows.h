/* file_rows.h: the rows of a matrix in a file, one after the other, whether the file has it by rows or by columns. */
#ifndef AFLITE_FILE_ROWS_H
#define AFLITE_FILE_ROWS_H

#include "files/npy_read.h"

#define FILE_ROWS_WINDOW 256 /* rows that are gathered at once from a file of columns */

struct file_rows {
	const struct npy_array *array;
	const uint32_t *examples, *rows; /* row i is row rows[examples[i]] of the array; either may be NULL: i → i */
	size_t count;
	/* private */
	uint8_t *room;         /* of a file of columns: FILE_ROWS_WINDOW rows */
	size_t first, present; /* the rows that are in it */
};

void file_rows_init(struct file_rows *file_rows, const struct npy_array *array, const uint32_t *examples,
                    const uint32_t *rows, size_t count);
void file_rows_free(struct file_rows *file_rows);

/* The bytes of row i, as a file of rows has them, until another row is asked for. They need not be aligned. Of a file of
 * columns, rows are best asked for in their order. */
const uint8_t *file_rows_at(struct file_rows *file_rows, size_t i);

/* The place of one value: row of the array, column. */
static inline const uint8_t *
file_rows_value(const struct npy_array *array, size_t row, size_t column)
{
	const struct npy_header *header = &array->header;
	size_t place = header->is_fortran ? column * header->shape[0] + row : row * header->shape[1] + column;

	return array->data + place * header->item_size;
}

#endif
