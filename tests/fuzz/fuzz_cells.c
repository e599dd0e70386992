/*
 * fuzz_cells: the file of `map --from` that has cells counted elsewhere. What is drawn lies within the axes, each cell at
 * a place of its own, and counts what the map counts.
 *
 * Byte 0: the format, and whether there is a column of colours; the rest is what follows the header.
 */
#include "fuzz.h"

#include <map/source.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_map(struct map_source *source)
{
	const struct map_options options = {.sample = 10};
	const struct map_axes *axes = &source->axes;
	const struct map_input *input = &source->input;
	uint8_t *there = calloc(axes->cells_x, axes->cells_y);
	struct map_axes drawn = *axes;
	struct map_data data;
	uint64_t examples = 0;

	require(there && input->n > 0 && axes->x.from < axes->x.to && axes->y.from < axes->y.to);
	require(axes->x.bins >= 1 && axes->x.bins <= MAP_BINS && axes->y.bins >= 1 && axes->y.bins <= MAP_BINS);
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		double x = input->x.values[row], y = input->y.values[row];
		size_t at;

		require(x > axes->x.from && x < axes->x.to && y > axes->y.from && y < axes->y.to);
		at = (size_t)map_bin(y, axes->y.from, axes->y.to, axes->cells_y) * axes->cells_x +
		     map_bin(x, axes->x.from, axes->x.to, axes->cells_x);
		require(!there[at]++ && input->weights[row] >= 1);
		examples += (uint64_t)input->weights[row];
	}
	if (input->colouring == MAP_BY_VALUE)
		map_axis_make(&drawn.colour, &input->colour, source->ranges.colour, 0);
	map_source_map(source, input, &drawn, &options, &data, NULL);
	require(data.examples == examples && data.without_colour <= examples);
	map_data_free(&data);
	free(there);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum table_format formats[] = {TABLE_JSONL, TABLE_CSV, TABLE_TSV};
	static const char *const headers[] = {"", "x_low,x_high,y_low,y_high,count",
	                                      "x_low\tx_high\ty_low\ty_high\tcount"};
	const struct map_source_request request = {.x = "variability", .y = "confidence"};
	struct input input = {data, size};
	unsigned variant = input_u8(&input);
	enum table_format format = formats[variant % 3];
	struct user_file file = {.path = "cells", .format = format};
	struct map_source source = {0};
	struct portolan_error error = {0};
	char *text;
	int length = asprintf(&text, "%s%s%s%.*s", headers[variant % 3],
	                      variant & 4 && format != TABLE_JSONL ? format == TABLE_CSV ? ",colour" : "\tcolour" : "",
	                      format == TABLE_JSONL ? "" : "\n", (int)input.size, (const char *)input.data);
	int code;

	require(length >= 0);
	file.text = text;
	file.size = (size_t)length;
	if (format != TABLE_JSONL) {
		file.header = records_next(format, text, file.size);
		file.begin = file.header.next;
	}
	if (map_source_has_cells(&file)) {
		code = map_source_read_cells(&source, &file, &request, &error);
		if (code == 0)
			check_map(&source);
		else
			require_message(&error, code);
		map_source_free(&source);
	}
	free(text);
	return 0;
}
