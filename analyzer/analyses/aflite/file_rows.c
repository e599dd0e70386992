/*
 * file_rows.c: a file of columns ("Fortran order") has a row's values far from one another, each in a page of its own.
 * So a few hundred rows are gathered together, column by column.
 */
#include "file_rows.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

int
file_rows_init(struct file_rows *file_rows, const struct npy_array *array, const uint32_t *examples,
               const uint32_t *rows, size_t count, struct portolan_error *error)
{
	const struct npy_header *header = &array->header;

	*file_rows = (struct file_rows){.array = array, .examples = examples, .rows = rows, .count = count};
	if (!header->is_fortran)
		return 0;
	file_rows->room = malloc(FILE_ROWS_WINDOW * header->shape[1] * header->item_size);
	return file_rows->room ? 0
	                       : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %llu columns",
	                                   (unsigned long long)header->shape[1]);
}

void
file_rows_free(struct file_rows *file_rows)
{
	free(file_rows->room);
	*file_rows = (struct file_rows){0};
}

static size_t
row_of(const struct file_rows *file_rows, size_t i)
{
	size_t example = file_rows->examples ? file_rows->examples[i] : i;

	return file_rows->rows ? file_rows->rows[example] : example;
}

static void
gather(struct file_rows *file_rows, size_t first)
{
	size_t columns = file_rows->array->header.shape[1], size = file_rows->array->header.item_size;
	size_t left = file_rows->count - first;

	file_rows->first = first;
	file_rows->there = left < FILE_ROWS_WINDOW ? left : FILE_ROWS_WINDOW;
	for (size_t c = 0; c < columns; c++)
		for (size_t i = 0; i < file_rows->there; i++)
			memcpy(file_rows->room + (i * columns + c) * size,
			       file_rows_value(file_rows->array, row_of(file_rows, first + i), c), size);
}

const uint8_t *
file_rows_at(struct file_rows *file_rows, size_t i)
{
	const struct npy_header *header = &file_rows->array->header;

	if (!file_rows->room)
		return file_rows_value(file_rows->array, row_of(file_rows, i), 0);
	if (i - file_rows->first >= file_rows->there)
		gather(file_rows, i);
	return file_rows->room + (i - file_rows->first) * header->shape[1] * header->item_size;
}
