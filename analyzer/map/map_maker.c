/*
 * map_maker.c: turns the examples of a run into the numbers of a map (struct map_data), for `portolan map`. It draws a
 * sample of the examples, whose points the map shows, and counts all examples by bin of the histograms, by cell, by
 * level and by region.
 *
 * Each point's place in the drawing order is known since the sample was drawn, so the point is set when its example
 * comes. Sums are added in the order of the parts.
 */
#include "map_maker.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "statistics/random.h"
#include "statistics/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DENSE 4 /* a sample is dense if it holds one of so many examples, or more */

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

/* Sorts the sample by key. The examples of a dense one go to their places in a list of all keys, which takes a third of
 * the time. */
static void
map_sample_sort(struct map_sample *sample)
{
	CLEANUP_ARRAY struct sort_item *scratch = NULL;
	CLEANUP_ARRAY uint32_t *values = NULL;
	uint64_t bound = 0, key;
	size_t placed = 0, taken = 0;

	for (size_t i = 0; i < sample->count; i++)
		bound = sample->items[i].key < bound ? bound : sample->items[i].key + 1;
	if (bound / DENSE <= sample->count) {
		values = memory_array((size_t)bound, sizeof(*values), "places of a sample");
		memset(values, 0xff, (size_t)bound * sizeof(*values));
		for (; placed < sample->count && values[sample->items[placed].key] == UINT32_MAX; placed++)
			values[sample->items[placed].key] = sample->items[placed].value;
	}
	if (!values || placed < sample->count) { /* it is not dense, or has an example twice */
		scratch = memory_array(sample->count, sizeof(*scratch), "examples of a sample");
		sort_by_key(sample->items, scratch, sample->count);
		return;
	}
	for (key = 0; key < bound; key++)
		if (values[key] != UINT32_MAX)
			sample->items[taken++] = (struct sort_item){.key = key, .value = values[key]};
}

void
map_sample_draw(struct map_sample *sample, const uint32_t *order, const uint8_t *on_top, size_t n, uint64_t most,
                uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(n, sizeof(*places), "examples to draw from");
	size_t below = 0, top = n; /* marked places are put at the end */
	size_t from_below, from_top;
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
	map_sample_sort(sample);
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

#define AHEAD 16   /* how many points ahead one is fetched into the cache */
#define BLOCK 256u /* examples that are counted at a time: their columns fit into the first cache */

/* Some examples that have a place in the map, one after another. */
struct map_block {
	size_t n;
	double x[BLOCK], y[BLOCK], colour[BLOCK];
	int64_t weight[BLOCK];             /* signed: a double is made of it in one instruction */
	uint32_t across[BLOCK], up[BLOCK]; /* numbers of bins, or of a cell's column and row */
};

static bool
map_has_place(const struct map_input *input, uint32_t row)
{
	return isfinite(input->x.values[row]) && isfinite(input->y.values[row]);
}

/* Takes those of the part's examples `from` … `end` − 1 that have a place. */
static void
map_take_block(const struct map_input *part, size_t from, size_t end, struct map_block *block)
{
	size_t n = 0;

	for (size_t i = from; i < end; i++) {
		const uint32_t row = part->order[i];

		block->x[n] = part->x.values[row];
		block->y[n] = part->y.values[row];
		block->colour[n] = part->colour.values ? part->colour.values[row] : NAN;
		block->weight[n] = part->weights ? (int64_t)part->weights[row] : 1;
		n += map_has_place(part, row);
	}
	block->n = n;
}

static void
map_add_bins(uint64_t bins[MAP_BINS], const struct map_axis *axis, const double *values, const struct map_block *block,
             uint32_t numbers[BLOCK])
{
	map_bins(values, block->n, axis->low, axis->low + axis->bins * axis->bin_width, axis->bins, numbers);
	for (size_t i = 0; i < block->n; i++)
		bins[numbers[i]] += (uint64_t)block->weight[i];
}

/* The number of the level that an example's colour value belongs to. */
static unsigned
map_maker_level(const struct map_data *data, double value, size_t epochs)
{
	return data->colouring == MAP_BY_CATEGORY ? (unsigned)value : map_level_of(value, epochs);
}

/* Counts the examples by the bins of the histograms, and by level. */
static void
map_count_bins(struct map_block *block, struct map_data *data, size_t epochs)
{
	const struct map_axis *colour = &data->axes.colour;
	uint64_t examples = 0;

	map_add_bins(data->x_bins, &data->axes.x, block->x, block, block->across);
	map_add_bins(data->y_bins, &data->axes.y, block->y, block, block->up);
	for (size_t i = 0; i < block->n; i++) {
		const double value = block->colour[i];
		const int64_t weight = block->weight[i];

		examples += (uint64_t)weight;
		if (data->level_count > 0) {
			struct map_level *level = &data->levels[map_maker_level(data, value, epochs)];

			level->examples += (uint64_t)weight;
			level->sum += block->y[i] * (double)weight;
		} else if (data->colouring == MAP_BY_VALUE && isfinite(value)) {
			data->colour_bins[map_bin(value, colour->low, colour->low + colour->bins * colour->bin_width,
			                          colour->bins)] += (uint64_t)weight;
		} else if (data->colouring == MAP_BY_VALUE) {
			data->without_colour += (uint64_t)weight;
		}
	}
	data->examples += examples; /* once: it stands beside what the other thread reads */
}

static void
map_count_cells(struct map_block *block, struct map_cell *cells, const struct map_axes *axes)
{
	map_bins(block->x, block->n, axes->x.from, axes->x.to, axes->cells_x, block->across);
	map_bins(block->y, block->n, axes->y.from, axes->y.to, axes->cells_y, block->up);
	for (size_t i = 0; i < block->n; i++) {
		struct map_cell *cell = &cells[(size_t)block->up[i] * axes->cells_x + block->across[i]];

		cell->examples += (uint64_t)block->weight[i];
		if (!isfinite(block->colour[i]))
			continue;
		cell->sum += block->colour[i] * (double)block->weight[i];
		cell->valued += (uint64_t)block->weight[i];
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
	struct map_point *point = &data->points[maker->sample->items[maker->next].value];

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
	point->edge = 1;
}

/* Adds to the points those examples of the part that are in the sample. */
static void
map_maker_add_points(struct map_maker *maker, const struct map_input *part)
{
	const struct map_sample *sample = maker->sample;
	const struct sort_item *item = sample->items + maker->next, *end = sample->items + sample->count;

	for (; item < end && item->key < (uint64_t)part->first + part->rows; item++, maker->next++) {
		/* The points lie in drawing order, which is random, so one further on is fetched ahead of its turn. */
		if (end - item > AHEAD)
			__builtin_prefetch(&maker->data->points[item[AHEAD].value], 1);
		map_maker_add_point(maker, part, (uint32_t)item->key - part->first);
	}
}

/* Closes the gaps among the points. An example of the sample that has no place left a gap: a point whose edge is 0. */
static void
map_close_gaps(struct map_data *data, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (data->points[i].edge > 0)
			data->points[data->point_count++] = data->points[i];
	data->shown = data->point_count;
}

/* Counts the examples by region, and sums up the places from which the labels' centres are computed. A label's centre
 * is the mean of its region's examples; for the ambiguous ones, which spread widest, that of the most ambiguous tenth
 * of all examples. */
static void
map_count_regions(const struct map_maker *maker, const struct map_block *block, struct map_region_sums *sums)
{
	const struct region_cuts cuts = maker->cuts->regions;
	const double tip = maker->cuts->tip;

	for (size_t i = 0; i < block->n; i++) {
		const double x = block->x[i], y = block->y[i];
		const enum region region = region_of(x, y, &cuts);

		maker->data->region_examples[region]++;
		if (region == REGION_AMBIGUOUS && x < tip)
			continue;
		sums->x[region] += x;
		sums->y[region] += y;
		sums->counts[region]++;
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
		data->labels[r].shown = maker->input->labelled && maker->sums.counts[r] > 0;
		if (maker->sums.counts[r] == 0)
			continue;
		centres[r][0] = map_x(&data->axes, maker->sums.x[r] / (double)maker->sums.counts[r]);
		centres[r][1] = map_y(&data->axes, maker->sums.y[r] / (double)maker->sums.counts[r]);
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
	        .points = memory_array(2 * maker->sample->count, sizeof(*data->points), "points of a map"),
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

/* Counts a part's examples by bin, by level and by region. */
static void
map_maker_count(struct map_maker *maker, const struct map_input *part)
{
	struct map_region_sums sums = maker->sums; /* a copy: the other thread reads what stands beside them */
	struct map_block block;

	for (size_t from = 0; from < part->n; from += BLOCK) {
		map_take_block(part, from, part->n - from < BLOCK ? part->n : from + BLOCK, &block);
		map_count_bins(&block, maker->data, maker->input->epochs);
		if (maker->cuts)
			map_count_regions(maker, &block, &sums);
	}
	maker->sums = sums;
}

/* Counts a part's examples by cell, and sets their points. */
static void
map_maker_place(struct map_maker *maker, const struct map_input *part)
{
	struct map_block block;

	for (size_t from = 0; from < part->n; from += BLOCK) {
		map_take_block(part, from, part->n - from < BLOCK ? part->n : from + BLOCK, &block);
		map_count_cells(&block, maker->cells, &maker->data->axes);
	}
	map_maker_add_points(maker, part);
}

struct map_adding {
	struct map_maker *maker;
	const struct map_input *part;
};

/* The two halves of the work, which write to different places. Each adds up its sums in the order of the examples. */
static int
map_maker_work(void *context, unsigned thread, unsigned slot, size_t half, struct portolan_error *error)
{
	const struct map_adding *adding = context;

	(void)thread;
	(void)slot;
	(void)error;
	if (half == 0)
		map_maker_place(adding->maker, adding->part);
	else
		map_maker_count(adding->maker, adding->part);
	return 0;
}

void
map_maker_add(struct map_maker *maker, const struct map_input *part)
{
	struct map_adding adding = {maker, part};
	struct parallel parallel = {.threads = maker->threads, .count = 2, .context = &adding, .work = map_maker_work};

	must(parallel_run(&parallel, &failure));
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

struct map_cuts
map_find_cuts(const struct map_input *input, const struct region_cuts *given)
{
	const double *values = input->x.values;

	return (struct map_cuts){.regions = given ? *given : regions_default_cuts(values, input->order, input->n),
	                         .tip = top_value(values, true, input->order, input->n, input->n / 10 + 1)};
}
