/*
 * map_maker.c: turns the examples of a run into the numbers of a map (struct map_data), for `portolan map`. It draws a
 * sample of the examples, whose points the map shows, and counts all examples by bin of the histograms, by cell, by
 * level and by region.
 *
 * Each point's place in the drawing order is known since the sample was drawn, so the point is set when its example
 * comes. Sums are added in the order of the parts.
 */
#include "map_maker.h"

#include "die/memory.h"
#include "statistics/random.h"
#include "statistics/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Draws `count` of n places at random, and adds the examples there to the sample. */
static void
map_sample_add(struct map_sample *sample, const uint32_t *order, uint32_t *places, size_t n, size_t count,
               struct random_state *random)
{
	random_sample(random, places, n, count);
	for (size_t i = 0; i < count; i++, sample->count++)
		sample->items[sample->count] = (struct sort_item){.key = order ? order[places[i]] : places[i],
		                                                  .value = (uint32_t)sample->count};
}

void
map_sample_draw(struct map_sample *sample, const uint32_t *order, const uint8_t *on_top, size_t n, uint64_t most,
                uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(n, sizeof(*places), "examples to draw from");
	size_t below = 0, top = n; /* marked places are put at the end */
	size_t from_below, from_top;
	CLEANUP_ARRAY struct sort_item *scratch = NULL;
	struct random_state random;

	for (size_t i = 0; i < n; i++)
		places[on_top && on_top[i] ? --top : below++] = (uint32_t)i;
	from_below = most < below ? (size_t)most : below;
	from_top = most < n - below ? (size_t)most : n - below;
	*sample = (struct map_sample){
	        .items = memory_array(from_below + from_top, sizeof(*sample->items), "examples of a sample")};
	random_seed(&random, seed);
	map_sample_add(sample, order, places, below, from_below, &random);
	map_sample_add(sample, order, places + below, n - below, from_top, &random);
	scratch = memory_array(sample->count, sizeof(*scratch), "examples of a sample");
	sort_by_key(sample->items, scratch, sample->count);
}

void
map_sample_free(struct map_sample *sample)
{
	array_free(sample->items);
	*sample = (struct map_sample){0};
}

struct map_cell {
	double sum;
	uint64_t examples, valued;
};

static bool
map_has_place(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]);
}

static uint64_t
map_weight(const struct map_input *input, uint32_t row)
{
	return input->weights ? (uint64_t)input->weights[row] : 1;
}

static void
map_add_bin(uint64_t bins[MAP_BINS], const struct map_axis *axis, double value, uint64_t weight)
{
	bins[map_bin(value, axis->low, axis->low + axis->bins * axis->bin_width, axis->bins)] += weight;
}

/* The number of the level that an example's colour value belongs to. */
static unsigned
map_maker_level(const struct map_data *data, double value, size_t epochs)
{
	return data->colouring == MAP_BY_CATEGORY ? (unsigned)value : map_level_of(value, epochs);
}

static void
map_count_bins(const struct map_input *input, struct map_data *data, size_t epochs)
{
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		uint64_t weight = map_weight(input, row);

		if (!map_has_place(input, row))
			continue;
		data->examples += weight;
		map_add_bin(data->x_bins, &data->axes.x, input->x.values[row], weight);
		map_add_bin(data->y_bins, &data->axes.y, input->y.values[row], weight);
		if (data->level_count > 0) {
			struct map_level *level =
			        &data->levels[map_maker_level(data, input->colour.values[row], epochs)];

			level->examples += weight;
			level->sum += input->y.values[row] * (double)weight;
		} else if (data->colouring == MAP_BY_VALUE && isfinite(input->colour.values[row])) {
			map_add_bin(data->colour_bins, &data->axes.colour, input->colour.values[row], weight);
		} else if (data->colouring == MAP_BY_VALUE) {
			data->without_colour += weight;
		}
	}
}

static size_t
map_cell_at(const struct map_input *input, const struct map_axes *axes, uint32_t row)
{
	unsigned x = map_bin(input->x.values[row], axes->x.from, axes->x.to, axes->cells_x);
	unsigned y = map_bin(input->y.values[row], axes->y.from, axes->y.to, axes->cells_y);

	return (size_t)y * axes->cells_x + x;
}

static void
map_count_cells(const struct map_input *input, struct map_cell *cells, const struct map_axes *axes)
{
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		double value = input->colour.values ? input->colour.values[row] : NAN;
		uint64_t weight = map_weight(input, row);
		struct map_cell *cell;

		if (!map_has_place(input, row))
			continue;
		cell = &cells[map_cell_at(input, axes, row)];
		cell->examples += weight;
		if (!isfinite(value))
			continue;
		cell->sum += value * (double)weight;
		cell->valued += weight;
	}
}

static int
map_compare_means(const void *a, const void *b)
{
	const float *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* Sets which means the ends of the bar of colours stand for: the 2nd and the 98th percentile of the cells' means, as
 * few cells have the extremes. Where these two are equal, the extremes. For a measure of whole numbers, the bar begins
 * at its least value, and is a whole number of steps long, unless half a step or less would do. */
static void
map_set_mean_range(struct map_data *data, size_t count)
{
	CLEANUP_FREE float *sorted = memory_new(count, sizeof(*sorted));
	const struct map_axis *axis = &data->axes.colour;
	size_t n = 0;
	double low, high, steps;

	data->mean_low = INFINITY;
	data->mean_high = -INFINITY;
	for (size_t c = 0; c < count; c++)
		if (!isnan(data->means[c]))
			sorted[n++] = data->means[c];
	if (n == 0)
		return;
	qsort(sorted, n, sizeof(*sorted), map_compare_means);
	low = (double)sorted[(size_t)floor(0.02 * (double)(n - 1))];
	high = (double)sorted[(size_t)ceil(0.98 * (double)(n - 1))];
	if (low == high) {
		low = (double)sorted[0];
		high = (double)sorted[n - 1];
	}
	if (axis->grid >= 1) {
		low = map_axis_values(axis).least;
		steps = (high - low) / axis->grid;
		if (steps == 0 || steps > 0.5)
			high = low + fmax(1, ceil(steps)) * axis->grid;
	}
	data->mean_low = low;
	data->mean_high = high;
	data->clipped = (double)sorted[0] < low || (double)sorted[n - 1] > high;
}

static void
map_finish_cells(const struct map_cell *cells, struct map_data *data)
{
	size_t count = (size_t)data->axes.cells_x * data->axes.cells_y;

	for (size_t c = 0; c < count; c++) {
		data->counts[c] = cells[c].examples ? (float)cells[c].examples : NAN;
		data->most_per_cell = fmax(data->most_per_cell, (double)cells[c].examples);
		data->means[c] = cells[c].valued ? (float)(cells[c].sum / (double)cells[c].valued) : NAN;
	}
	map_set_mean_range(data, count);
}

/* How far an example is moved along an axis. On a grid many examples stand at the same point, and would hide one
 * another, so they are spread around it. An example is always moved the same way. */
static double
map_spread(double grid, uint64_t seed, uint32_t index, unsigned axis)
{
	struct random_state random;

	if (!(grid > 0))
		return 0;
	random_seed(&random, seed ^ ((uint64_t)index << 1 | axis));
	return 0.6 * grid * ((double)random_below(&random, 1 << 20) / (1 << 20) - 0.5);
}

static void
map_maker_add_point(const struct map_maker *maker, const struct map_input *part, uint32_t row)
{
	struct map_data *data = maker->data;
	uint64_t seed = maker->options->seed;
	uint32_t index = part->first + row;
	struct map_point *point = &data->points[2 * (size_t)maker->sample->items[maker->next].value];

	if (!map_has_place(part, row))
		return;
	*point = (struct map_point){
	        .x = (float)(part->x.values[row] + map_spread(data->axes.x.grid, seed, index, 0)),
	        .y = (float)(part->y.values[row] + map_spread(data->axes.y.grid, seed, index, 1)),
	};
	if (data->level_count > 0)
		point->value = (float)map_maker_level(data, part->colour.values[row], maker->input->epochs);
	else if (data->colouring == MAP_BY_VALUE)
		point->value = isfinite(part->colour.values[row]) ? (float)part->colour.values[row] : NAN;
	point[1] = point[0];
	point->edge = 1;
}

/* Adds to the points those examples of the part that are in the sample. */
static void
map_maker_add_points(struct map_maker *maker, const struct map_input *part)
{
	const struct map_sample *sample = maker->sample;

	for (; maker->next < sample->count && sample->items[maker->next].key < (uint64_t)part->first + part->rows;
	     maker->next++)
		map_maker_add_point(maker, part, (uint32_t)sample->items[maker->next].key - part->first);
}

/* Closes the gaps among the points. An example of the sample that has no place left a gap: a point whose edge is 0. */
static void
map_close_gaps(struct map_data *data, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (data->points[2 * i].edge == 0)
			continue;
		data->points[data->point_count++] = data->points[2 * i];
		data->points[data->point_count++] = data->points[2 * i + 1];
		data->shown++;
	}
}

/* Counts the examples by region, and sums up the places from which the labels' centres are computed. A label's centre
 * is the mean of its region's examples; for the ambiguous ones, which spread widest, that of the most ambiguous tenth
 * of all examples. */
static void
map_maker_add_regions(struct map_maker *maker, const struct map_input *part)
{
	for (size_t i = 0; i < part->n; i++) {
		uint32_t row = part->order[i];
		double x = part->x.values[row], y = part->y.values[row];
		enum region region = region_of(x, y, &maker->cuts->regions);

		maker->data->region_examples[region]++;
		if (region == REGION_AMBIGUOUS && x < maker->cuts->tip)
			continue;
		maker->sums[region][0] += x;
		maker->sums[region][1] += y;
		maker->counts[region]++;
	}
}

static void
map_maker_finish_regions(struct map_maker *maker)
{
	struct map_data *data = maker->data;
	double centres[REGION_COUNT][2] = {{0}};

	data->regions = true;
	data->lined = maker->input->lined;
	data->text = maker->options->text;
	data->cuts = maker->cuts->regions;
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		data->labels[r].shown = maker->input->labelled && maker->counts[r] > 0;
		if (maker->counts[r] == 0)
			continue;
		centres[r][0] = map_x(&data->axes, maker->sums[r][0] / (double)maker->counts[r]);
		centres[r][1] = map_y(&data->axes, maker->sums[r][1] / (double)maker->counts[r]);
	}
	if (maker->input->labelled)
		map_place_labels(data, centres);
}

void
map_maker_begin(struct map_maker *maker, const struct map_input *input, const struct map_axes *axes,
                struct map_data *data)
{
	size_t cells = (size_t)axes->cells_x * axes->cells_y;

	*data = (struct map_data){
	        .axes = *axes,
	        .colouring = input->colouring,
	        .scale = maker->options->scale,
	        .points = memory_new(2 * maker->sample->count, sizeof(*data->points)),
	        .counts = memory_new(cells, sizeof(*data->counts)),
	        .means = memory_new(cells, sizeof(*data->means)),
	};
	maker->input = input;
	maker->data = data;
	maker->cells = memory_new(cells, sizeof(*maker->cells));
	if (input->colouring == MAP_BY_CORRECTNESS)
		data->level_count = map_levels(input->epochs, data->levels);
	if (input->colouring == MAP_BY_CATEGORY) {
		data->level_count = input->level_count;
		memcpy(data->levels, input->levels, input->level_count * sizeof(*input->levels));
	}
}

void
map_maker_add(struct map_maker *maker, const struct map_input *part)
{
	map_count_bins(part, maker->data, maker->input->epochs);
	map_count_cells(part, maker->cells, &maker->data->axes);
	map_maker_add_points(maker, part);
	if (maker->cuts)
		map_maker_add_regions(maker, part);
}

void
map_maker_end(struct map_maker *maker)
{
	map_finish_cells(maker->cells, maker->data);
	map_close_gaps(maker->data, maker->sample->count);
	if (maker->cuts)
		map_maker_finish_regions(maker);
	free(maker->cells);
}

void
map_find_cuts(const struct map_input *input, struct map_cuts *cuts)
{
	const double *values = input->x.values;
	size_t n = input->n, third = n / 3;
	double last = third > 0 ? top_value(values, true, input->order, n, third) : 0; /* the least of the top third */

	cuts->regions = regions_default_cuts(&last, third > 0 ? 3 : n); /* it takes the first of three values: `last` */
	cuts->tip = top_value(values, true, input->order, n, n / 10 + 1);
}
