/*
 * source_cells.c: for `map --from`: reads a file in which another program, such as portolan.spark's map_counts(), has
 * counted the examples in each cell of a map. The file has a record for each cell: its bounds x_low, x_high, y_low,
 * y_high, its count, and, if a measure colours the map, the mean of that measure.
 *
 * A cell becomes an example in its middle that counts as many times as the cell has examples. The cells must be of one
 * size and lie side by side, so that the picture can have the same cells. Cells without examples may be missing.
 */
#include "source.h"

#include "base/number.h"
#include "die/memory.h"

#include <portolan/error.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_ALONG_MOST 1000 /* cells along an axis: a picture cannot show more */
#define CLOSE 1e-6            /* two bounds count as equal if they are nearer than this part of a cell's size */
#define SMALLEST 1e-9         /* a cell is larger than this part of the largest bound: numbers have 16 digits */
#define COUNT_MOST 1e12       /* examples of a cell: the sum over all cells fits 64 bits */

enum { X_LOW, X_HIGH, Y_LOW, Y_HIGH, COUNT, COLOUR, FIELDS };
static const char *const field_names[FIELDS] = {"x_low", "x_high", "y_low", "y_high", "count", "colour"};

struct cell {
	double values[FIELDS]; /* by field; NaN: the cell has no colour */
	const char *at;        /* where the cell's record begins in the file */
};

struct cells {
	struct map_source *source;
	const struct user_file *file;
	struct cell *list;
	size_t count, room;
	bool has_colour;
};

bool
map_source_has_cells(const struct user_file *file)
{
	for (size_t f = 0; f < COLOUR; f++)
		if (!fields_has(file, field_names[f]))
			return false;
	return true;
}

static int
cells_take_number(const struct fields_reader *reader, unsigned f, double *value, struct portolan_error *error)
{
	const struct field *field = &reader->found[f];
	char text[64];

	if (field->kind == FIELD_ABSENT || field->kind == FIELD_NULL || field->length == 0) {
		*value = NAN;
		if (f == COLOUR)
			return 0;
		return fields_wrong(reader, error, ": field %s: it is empty; a cell's bounds and count are numbers",
		                    field_names[f]);
	}
	if (field->length < sizeof(text)) {
		memcpy(text, field->at, field->length);
		text[field->length] = '\0';
		if (number_parse(text, value))
			return 0;
	}
	return fields_wrong(reader, error, ": field %s: '%.*s' is no number", field_names[f], fields_shown(field),
	                    field->at);
}

static int
cells_take_record(const struct fields_reader *reader, bool has_colour, struct cell *cell, struct portolan_error *error)
{
	double *values = cell->values;
	int code = 0;

	values[COLOUR] = NAN;
	cell->at = reader->part.record.at;
	for (unsigned f = 0; f < (has_colour ? FIELDS : COLOUR) && code >= 0; f++)
		code = cells_take_number(reader, f, &values[f], error);
	for (unsigned f = X_LOW; f <= Y_LOW && code >= 0; f += 2)
		if (!(values[f] < values[f + 1]))
			code = fields_wrong(reader, error, ": field %s: %g is not above %s, %g", field_names[f + 1],
			                    values[f + 1], field_names[f], values[f]);
	if (code >= 0 && !(values[COUNT] >= 0 && values[COUNT] <= COUNT_MOST && values[COUNT] == floor(values[COUNT])))
		code = fields_wrong(reader, error, ": field count: %g is no whole number of examples from 0 to 10^12",
		                    values[COUNT]);
	return code;
}

static int
cells_read(struct cells *cells, struct portolan_error *error)
{
	static const char *const options[FIELDS] = {"--from", "--from", "--from", "--from", "--from", "--from"};
	CLEANUP(fields_end) struct fields_reader reader = {0};
	struct fields fields;
	int code = fields_init(&fields, cells->file, field_names, options, cells->has_colour ? FIELDS : COLOUR, error);

	if (code < 0)
		return code;
	fields_begin(&reader, &fields, user_file_whole(cells->file));
	while ((code = fields_next(&reader, error)) > 0) {
		cells->list = memory_grow(cells->list, &cells->room, cells->count + 1, sizeof(*cells->list));
		code = cells_take_record(&reader, cells->has_colour, &cells->list[cells->count], error);
		if (code < 0)
			return code;
		cells->count++;
	}
	if (code >= 0 && cells->count == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has no cells", cells->file->path);
	return code;
}

static unsigned long long
cells_line(const struct cells *cells, size_t i)
{
	return user_file_line(cells->file, cells->list[i].at);
}

/* Makes an axis over all cells, and counts the cells along it. `low` is X_LOW or Y_LOW. */
static int
cells_make_axis(const struct cells *cells, unsigned low, const char *name, struct map_axis *axis, unsigned *along,
                struct portolan_error *error)
{
	double size = cells->list[0].values[low + 1] - cells->list[0].values[low], each, most;
	struct map_range range = MAP_RANGE_EMPTY, middle;
	struct map_column column = {.name = name};

	for (size_t i = 0; i < cells->count; i++) {
		map_range_widen(&range, cells->list[i].values[low]);
		map_range_widen(&range, cells->list[i].values[low + 1]);
	}
	most = fmax(fabs(range.least), fabs(range.most));
	if (!isfinite(range.most - range.least) || !(size > SMALLEST * most && size > DBL_MIN / SMALLEST))
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: line %llu: field %s: a cell from %g to %g cannot be told from others, of %g to %g",
		        cells->file->path, cells_line(cells, 0), field_names[low + 1], cells->list[0].values[low],
		        cells->list[0].values[low + 1], range.least, range.most);
	if ((range.most - range.least) / size > CELLS_ALONG_MOST + 0.5)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %llu: field %s: cells of this size are more than %d from %g to %g",
		                 cells->file->path, cells_line(cells, 0), field_names[low + 1], CELLS_ALONG_MOST,
		                 range.least, range.most);
	*along = (unsigned)fmax(1, round((range.most - range.least) / size));
	size = (range.most - range.least) / *along;
	for (size_t i = 0; i < cells->count; i++) {
		const double *bounds = cells->list[i].values + low;
		double from = (bounds[0] - range.least) / size, to = (bounds[1] - range.least) / size;

		if (fabs(to - from - 1) > CLOSE || fabs(from - round(from)) > CLOSE)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field %s: cells must be of one size, and side by side: %g to "
			                 "%g is none of the %u from %g to %g",
			                 cells->file->path, cells_line(cells, i), field_names[low + 1], bounds[0],
			                 bounds[1], *along, range.least, range.most);
	}
	middle = (struct map_range){range.least + size * *along / 20, range.most - size * *along / 20};
	map_axis_make(axis, &column, middle, 0); /* for the tics, which are those of an axis without margins */
	each = ceil((double)*along / MAP_BINS);  /* bins of whole cells */
	axis->low = axis->from = range.least;
	axis->high = axis->to = range.most;
	axis->bins = (unsigned)ceil(*along / each);
	axis->bin_width = each * size;
	return 0;
}

/* The middle of a cell along an axis: `low` is X_LOW or Y_LOW. */
static double
cell_middle(const struct cell *cell, unsigned low)
{
	return cell->values[low] / 2 + cell->values[low + 1] / 2;
}

/* Refuses a cell that stands in the file twice. */
static int
cells_check_places(const struct cells *cells, const struct map_axes *axes, struct portolan_error *error)
{
	size_t places = (size_t)axes->cells_x * axes->cells_y;
	CLEANUP_ARRAY uint32_t *first =
	        memory_array(places, sizeof(*first),
	                     "cells"); /* by place on the map: 1 + the number of the cell there; 0: none so far */

	for (size_t i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->list[i];
		size_t x = map_bin(cell_middle(cell, X_LOW), axes->x.from, axes->x.to, axes->cells_x);
		size_t y = map_bin(cell_middle(cell, Y_LOW), axes->y.from, axes->y.to, axes->cells_y);
		uint32_t *there = &first[y * axes->cells_x + x];

		if (*there)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field x_low: this cell stands in line %llu already",
			                 cells->file->path, cells_line(cells, i), cells_line(cells, *there - 1));
		*there = (uint32_t)i + 1;
	}
	return 0;
}

/* Makes the columns of the source: a row for each cell that has examples. */
static int
cells_fill(const struct cells *cells, const struct map_source_request *request, struct portolan_error *error)
{
	struct map_source *source = cells->source;
	struct map_input *input = &source->input;
	double *values = memory_array(4 * cells->count, sizeof(*values), "cells");
	size_t n = 0;

	source->cell_values = values;
	source->drawn = memory_array(cells->count, sizeof(*source->drawn), "cells to draw");
	for (size_t i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->list[i];

		if (cell->values[COUNT] == 0)
			continue;
		values[n] = cell_middle(cell, X_LOW);
		values[cells->count + n] = cell_middle(cell, Y_LOW);
		values[2 * cells->count + n] = cell->values[COLOUR];
		values[3 * cells->count + n] = cell->values[COUNT];
		source->drawn[n] = (uint32_t)n;
		n++;
	}
	if (n == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s: no cell has an example: every count is 0",
		                 cells->file->path);
	*input = (struct map_input){.x = {.name = request->x, .values = values},
	                            .y = {.name = request->y, .values = values + cells->count},
	                            .weights = values + 3 * cells->count,
	                            .colouring = MAP_PLAIN,
	                            .order = source->drawn,
	                            .n = n,
	                            .rows = (uint32_t)n};
	if (cells->has_colour) {
		input->colouring = MAP_BY_VALUE;
		input->colour = (struct map_column){.name = request->colour_name ? request->colour_name : "colour",
		                                    .values = values + 2 * cells->count};
	}
	source->ranges = MAP_RANGES_EMPTY;
	map_ranges_add(&source->ranges, input);
	return 0;
}

int
map_source_read_cells(struct map_source *source, const struct user_file *file, const struct map_source_request *request,
                      struct portolan_error *error)
{
	struct cells cells = {.source = source, .file = file, .has_colour = fields_has(file, field_names[COLOUR])};
	struct map_axes *axes = &source->axes;
	int code;

	if (request->colour_name && !cells.has_colour)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--colour: %s has cells without the column 'colour', the mean in each", file->path);
	if (request->highlight)
		return error_set(error, PORTOLAN_E_INVALID, "--highlight: %s has cells, and no examples to highlight",
		                 file->path);
	if (request->colour_file)
		return error_set(error, PORTOLAN_E_INVALID, "--data: %s has cells, and no examples to colour",
		                 file->path);
	code = cells_read(&cells, error);
	if (code >= 0)
		code = cells_make_axis(&cells, X_LOW, request->x, &axes->x, &axes->cells_x, error);
	if (code >= 0)
		code = cells_make_axis(&cells, Y_LOW, request->y, &axes->y, &axes->cells_y, error);
	if (code >= 0)
		code = cells_check_places(&cells, axes, error);
	if (code >= 0)
		code = cells_fill(&cells, request, error);
	free(cells.list);
	source->is_cells = code >= 0;
	return code;
}
