/*
 * map_data.c: what a map shows: a sample of the points, or cells with counts and means; histograms of all examples.
 *
 * The sample is drawn and shuffled in one go (Fisher and Yates) from the list by ascending id, so a seed gives the same
 * picture wherever the run was recorded. Only the scatter is a sample: bins, cells and regions count everything.
 */
#include "map.h"

#include "statistics/random.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned
map_levels(size_t epochs, struct map_level levels[MAP_LEVELS_MAX])
{
	static const char *const steps[] = {"0", "0–0.2", "0.2–0.4", "0.4–0.6", "0.6–0.8", "0.8–1", "1"};
	unsigned count = epochs < MAP_LEVELS_MAX ? (unsigned)epochs + 1 : MAP_LEVELS_MAX;

	for (unsigned k = 0; k < count; k++) {
		levels[k] = (struct map_level){.slot = (k * (MAP_LEVELS_MAX - 1) + (count - 1) / 2) / (count - 1)};
		if (epochs < MAP_LEVELS_MAX)
			snprintf(levels[k].name, sizeof(levels[k].name), "%.2g", (double)k / (double)epochs);
		else
			snprintf(levels[k].name, sizeof(levels[k].name), "%s", steps[k]);
	}
	return count;
}

unsigned
map_level_of(double correctness, size_t epochs)
{
	unsigned step;

	if (epochs < MAP_LEVELS_MAX)
		return (unsigned)lround(correctness * (double)epochs);
	if (correctness <= 0 || correctness >= 1)
		return correctness <= 0 ? 0 : MAP_LEVELS_MAX - 1;
	step = (unsigned)(correctness * 5 + 1e-9); /* 3 of 5 epochs begin the fourth step, whatever 0.6 × 5 comes to */
	return 1 + (step < 4 ? step : 4);
}

double
map_x(const struct map_axes *axes, double x)
{
	return MAP_LEFT + (x - axes->x.from) / (axes->x.to - axes->x.from) * (MAP_RIGHT - MAP_LEFT);
}

double
map_y(const struct map_axes *axes, double y)
{
	return MAP_BOTTOM + (y - axes->y.from) / (axes->y.to - axes->y.from) * (MAP_TOP - MAP_BOTTOM);
}

void
map_ranges_add(struct map_ranges *ranges, const struct map_input *input)
{
	map_range_add(&ranges->x, &input->x, input->order, input->n);
	map_range_add(&ranges->y, &input->y, input->order, input->n);
	if (input->colouring == MAP_BY_VALUE)
		map_range_add(&ranges->colour, &input->colour, input->order, input->n);
}

/* One for each value of a grid, unless there are more than cells; else `most` by tenths. */
static unsigned
cells_along(const struct map_axis *axis, unsigned most, unsigned tenths)
{
	double values = axis->grid > 0 ? round((axis->high - axis->low) / axis->grid) : INFINITY;

	return values <= most ? (unsigned)values : most / 10 * tenths;
}

void
map_axes_make(struct map_axes *axes, const struct map_input *input, const struct map_ranges *ranges, size_t n)
{
	/* Cells as wide as they are high; so many that a few thousand examples still lie in some together. */
	double steps = round(sqrt((double)n) / 7.5);
	unsigned tenths = steps < 3 ? 3 : steps < 10 ? (unsigned)steps : 10;

	*axes = (struct map_axes){0};
	map_axis_make(&axes->x, &input->x, ranges->x, 0.024);
	map_axis_make(&axes->y, &input->y, ranges->y, 0.03);
	if (input->colouring == MAP_BY_VALUE)
		map_axis_make(&axes->colour, &input->colour, ranges->colour, 0);
	axes->cells_x = cells_along(&axes->x, MAP_CELLS_X, tenths);
	axes->cells_y = cells_along(&axes->y, MAP_CELLS_Y, tenths);
}

static bool
is_there(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]);
}

static void
add_bin(uint64_t bins[MAP_BINS], const struct map_axis *axis, double value)
{
	bins[map_bin(value, axis->low, axis->low + axis->bins * axis->bin_width, axis->bins)]++;
}

static void
count_bins(const struct map_input *input, struct map_data *data)
{
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];

		if (!is_there(input, row))
			continue;
		data->examples++;
		add_bin(data->x_bins, &data->axes.x, input->x.values[row]);
		add_bin(data->y_bins, &data->axes.y, input->y.values[row]);
		if (input->colouring == MAP_BY_CORRECTNESS)
			data->levels[map_level_of(input->colour.values[row], input->epochs)].examples++;
		else if (input->colouring == MAP_BY_VALUE && isfinite(input->colour.values[row]))
			add_bin(data->colour_bins, &data->axes.colour, input->colour.values[row]);
		else if (input->colouring == MAP_BY_VALUE)
			data->without_colour++;
	}
}

static size_t
cell_of(const struct map_input *input, const struct map_axes *axes, uint32_t row)
{
	unsigned x = map_bin(input->x.values[row], axes->x.from, axes->x.to, axes->cells_x);
	unsigned y = map_bin(input->y.values[row], axes->y.from, axes->y.to, axes->cells_y);

	return (size_t)y * axes->cells_x + x;
}

struct cell {
	double sum;
	uint64_t examples, valued;
};

static void
count_cells(const struct map_input *input, struct cell *cells, struct map_data *data)
{
	size_t count = (size_t)data->axes.cells_x * data->axes.cells_y;

	data->least_mean = INFINITY;
	data->most_mean = -INFINITY;
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		struct cell *cell = &cells[is_there(input, row) ? cell_of(input, &data->axes, row) : count];
		double value = input->colour.values ? input->colour.values[row] : NAN;

		cell->examples++;
		if (!isfinite(value))
			continue;
		cell->sum += value;
		cell->valued++;
	}
	for (size_t c = 0; c < count; c++) {
		double mean = cells[c].valued ? cells[c].sum / (double)cells[c].valued : NAN;

		data->counts[c] = cells[c].examples ? (float)cells[c].examples : NAN;
		data->means[c] = (float)mean;
		data->most_per_cell = fmax(data->most_per_cell, (double)cells[c].examples);
		data->least_mean = fmin(data->least_mean, mean);
		data->most_mean = fmax(data->most_mean, mean);
	}
}

/* Examples on a grid would hide one another: they are spread around its points, each example always the same way. */
static double
spread(double grid, uint64_t seed, uint32_t row, unsigned axis)
{
	struct random_state random;

	if (!(grid > 0))
		return 0;
	random_seed(&random, seed ^ ((uint64_t)row << 1 | axis));
	return 0.6 * grid * ((double)random_below(&random, 1 << 20) / (1 << 20) - 0.5);
}

static void
take_points(const struct map_input *input, const struct map_options *options, uint32_t *rows, size_t count,
            struct map_data *data)
{
	struct random_state random;

	random_seed(&random, options->seed);
	random_sample(&random, rows, input->n, count);
	for (size_t i = 0; i < count; i++) {
		struct map_point point = {
		        .x = (float)(input->x.values[rows[i]] + spread(data->axes.x.grid, options->seed, rows[i], 0)),
		        .y = (float)(input->y.values[rows[i]] + spread(data->axes.y.grid, options->seed, rows[i], 1)),
		};

		if (!is_there(input, rows[i]))
			continue;
		if (input->colouring == MAP_BY_CORRECTNESS)
			point.value = (float)map_level_of(input->colour.values[rows[i]], input->epochs);
		else if (input->colouring == MAP_BY_VALUE)
			point.value =
			        isfinite(input->colour.values[rows[i]]) ? (float)input->colour.values[rows[i]] : NAN;
		data->shown++;
		data->points[data->point_count] = point;
		data->points[data->point_count++].edge = 1;
		data->points[data->point_count++] = point;
	}
}

/* Where the regions lie, and so their labels: the middle of easy- and of hard-to-learn; the ambiguous ones spread
 * widest, and their label belongs where they are most so, in the middle of the top tenth. */
static void
find_regions(const struct map_input *input, const double *descending, struct map_data *data)
{
	double sums[REGION_COUNT][2] = {{0}}, centres[REGION_COUNT][2] = {{0}};
	double tip = descending[input->n / 10];
	size_t counts[REGION_COUNT] = {0};

	data->regions = true;
	data->cuts = regions_default_cuts(descending, input->n);
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		enum region region = region_of(input->x.values[row], input->y.values[row], &data->cuts);

		data->region_examples[region]++;
		if (region == REGION_AMBIGUOUS && input->x.values[row] < tip)
			continue;
		sums[region][0] += input->x.values[row];
		sums[region][1] += input->y.values[row];
		counts[region]++;
	}
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		data->labels[r].shown = input->labelled && counts[r] > 0;
		if (counts[r] == 0)
			continue;
		centres[r][0] = map_x(&data->axes, sums[r][0] / (double)counts[r]);
		centres[r][1] = map_y(&data->axes, sums[r][1] / (double)counts[r]);
	}
	if (input->labelled)
		map_place_labels(data, centres);
}

static int
add_regions(const struct map_input *input, struct map_data *data)
{
	struct sort_item *items = malloc(2 * input->n * sizeof(*items));
	double *descending = malloc(input->n * sizeof(*descending));
	bool done = items && descending;

	for (size_t i = 0; i < input->n && done; i++)
		items[i] = (struct sort_item){sort_key_descending(input->x.values[input->order[i]]), input->order[i]};
	if (done) {
		sort_by_key(items, items + input->n, input->n);
		for (size_t i = 0; i < input->n; i++)
			descending[i] = input->x.values[items[i].value];
		find_regions(input, descending, data);
	}
	free(items);
	free(descending);
	return done ? 0 : -1;
}

void
map_data_free(struct map_data *data)
{
	free(data->points);
	free(data->counts);
	free(data->means);
	*data = (struct map_data){0};
}

int
map_data_make(const struct map_input *input, const struct map_axes *axes, const struct map_options *options,
              struct map_data *data, struct portolan_error *error)
{
	size_t cell_count = (size_t)axes->cells_x * axes->cells_y;
	size_t count = options->sample < input->n ? (size_t)options->sample : input->n;
	uint32_t *rows = malloc((input->n + 1) * sizeof(*rows));
	struct cell *cells = calloc(cell_count + 1, sizeof(*cells));
	int code = -1;

	*data = (struct map_data){.axes = *axes, .colouring = input->colouring};
	data->points = malloc((2 * count + 1) * sizeof(*data->points));
	data->counts = malloc(cell_count * sizeof(*data->counts));
	data->means = malloc(cell_count * sizeof(*data->means));
	if (rows && cells && data->points && data->counts && data->means) {
		memcpy(rows, input->order, input->n * sizeof(*rows));
		if (input->colouring == MAP_BY_CORRECTNESS)
			data->level_count = map_levels(input->epochs, data->levels);
		count_bins(input, data);
		count_cells(input, cells, data);
		take_points(input, options, rows, count, data);
		code = input->regions && input->n > 0 ? add_regions(input, data) : 0;
	}
	if (code < 0) {
		map_data_free(data);
		error_set(error, PORTOLAN_E_MEMORY, "out of memory to map %zu examples", input->n);
	}
	free(rows);
	free(cells);
	return code < 0 ? PORTOLAN_E_MEMORY : 0;
}

double
map_shift(const struct map_data *first, const struct map_data *second, float *cells)
{
	double most = 0;

	for (size_t c = 0; c < (size_t)first->axes.cells_x * first->axes.cells_y; c++) {
		bool none = isnan(first->counts[c]) && isnan(second->counts[c]);
		double before = isnan(first->counts[c]) ? 0 : (double)first->counts[c] / (double)first->examples;
		double after = isnan(second->counts[c]) ? 0 : (double)second->counts[c] / (double)second->examples;

		cells[c] = none ? NAN : (float)(100 * (after - before));
		most = none ? most : fmax(most, 100 * fabs(after - before));
	}
	return most;
}
