/*
 * file_rows.c: reads rows of features from a .npy file, for matrix_source.c. In a file of columns ("Fortran order"), the values of a row lie far from one
 * another, each in a page of its own. So a few hundred rows are gathered together, column by column.
 */
#include "file_rows.h"

#include "die/memory.h"

#include <stdlib.h>
#include <string.h>

void
file_rows_init(struct file_rows *file_rows, const struct npy_array *array, const uint32_t *examples,
               const uint32_t *rows, size_t count)
{
	*file_rows = (struct file_rows){.array = array, .examples = examples, .rows = rows, .count = count};
	if (array->header.is_fortran)
		file_rows->room =
		        memory_need(malloc(FILE_ROWS_WINDOW * array->header.shape[1] * array->header.item_size));
}

void
file_rows_free(struct file_rows *file_rows)
{
	free(file_rows->room);
}

static size_t
file_rows_place(const struct file_rows *file_rows, size_t i)
{
	size_t example = file_rows->examples ? file_rows->examples[i] : i;

	return file_rows->rows ? file_rows->rows[example] : example;
}

static void
file_rows_gather(struct file_rows *file_rows, size_t first)
{
	size_t columns = file_rows->array->header.shape[1], size = file_rows->array->header.item_size;
	size_t left = file_rows->count - first;

	file_rows->first = first;
	file_rows->present = left < FILE_ROWS_WINDOW ? left : FILE_ROWS_WINDOW;
	for (size_t c = 0; c < columns; c++)
		for (size_t i = 0; i < file_rows->present; i++)
			memcpy(file_rows->room + (i * columns + c) * size,
			       file_rows_value(file_rows->array, file_rows_place(file_rows, first + i), c), size);
}

const uint8_t *
file_rows_at(struct file_rows *file_rows, size_t i)
{
	const struct npy_header *header = &file_rows->array->header;

	if (!file_rows->room)
		return file_rows_value(file_rows->array, file_rows_place(file_rows, i), 0);
	if (i - file_rows->first >= file_rows->present)
		file_rows_gather(file_rows, i);
	return file_rows->room + (i - file_rows->first) * header->shape[1] * header->item_size;
}
