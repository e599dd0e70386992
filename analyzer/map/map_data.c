/*
 * map_data.c: what a map shows: a sample of the points, or cells with counts; histograms of all examples.
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
map_x(const struct map_data *data, double variability)
{
	double margin = 0.024 * data->variability_max;

	return MAP_LEFT + (variability + margin) / (data->variability_max + 2 * margin) * (MAP_RIGHT - MAP_LEFT);
}

double
map_y(double confidence)
{
	return MAP_BOTTOM +
	       (confidence - MAP_CONFIDENCE_MIN) / (MAP_CONFIDENCE_MAX - MAP_CONFIDENCE_MIN) * (MAP_TOP - MAP_BOTTOM);
}

/* 0.5 is the largest standard deviation there is between 0 and 1: maps share that axis and can be laid side by side,
 * unless the data would fill less than half of it. */
static double
axis_end(double most)
{
	double end = ceil(most * 20) / 20;

	if (most > 0.25)
		return 0.5;
	return end > 0.05 ? end : 0.05;
}

/* What lies outside, which only a damaged store can have, goes to the bin at that end. */
static unsigned
bin_of(double value, double end, unsigned bins)
{
	double bin = value / end * bins;

	return bin > 0 ? bin < bins ? (unsigned)bin : bins - 1 : 0;
}

static void
count_bins(const struct map_input *input, struct map_data *data)
{
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];

		data->confidence_bins[bin_of(input->confidence[row], 1, MAP_BINS)]++;
		data->variability_bins[bin_of(input->variability[row], data->variability_max, MAP_BINS)]++;
		data->levels[map_level_of(input->correctness[row], input->epochs)].examples++;
	}
}

/* Cells as wide as they are high; so many that a few thousand examples still lie in some together. */
static void
count_cells(const struct map_input *input, struct map_data *data)
{
	double steps = round(sqrt((double)input->n) / 7.5);
	unsigned k = steps < 3 ? 3 : steps < 10 ? (unsigned)steps : 10;

	data->cells_x = MAP_CELLS_X / 10 * k;
	data->cells_y = MAP_CELLS_Y / 10 * k;
	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		double x = map_x(data, input->variability[row]) - MAP_LEFT,
		       y = map_y(input->confidence[row]) - MAP_BOTTOM;
		float *cell = &data->cells[bin_of(y, MAP_TOP - MAP_BOTTOM, data->cells_y) * data->cells_x +
		                           bin_of(x, MAP_RIGHT - MAP_LEFT, data->cells_x)];

		*cell = isnan(*cell) ? 1 : *cell + 1;
		if (*cell > (float)data->most_per_cell)
			data->most_per_cell = (uint64_t)*cell;
	}
}

static void
take_points(const struct map_input *input, const struct map_options *options, uint32_t *rows, struct map_data *data)
{
	struct random_state random;

	random_seed(&random, options->seed);
	random_sample(&random, rows, input->n, data->shown);
	for (size_t i = 0; i < data->shown; i++) {
		struct map_point point = {
		        .variability = (float)input->variability[rows[i]],
		        .confidence = (float)input->confidence[rows[i]],
		        .level = (float)map_level_of(input->correctness[rows[i]], input->epochs),
		};

		data->points[data->point_count] = point;
		data->points[data->point_count++].level += MAP_HALO;
		data->points[data->point_count++] = point;
	}
}

/* Where the regions lie, and so their labels: the middle of easy- and of hard-to-learn; the ambiguous ones spread
 * widest, and their label belongs where they are most so, in the middle of the top tenth. */
static void
find_regions(const struct map_input *input, const double *descending, struct map_data *data)
{
	struct region_cuts cuts = regions_default_cuts(descending, input->n);
	double sums[REGION_COUNT][2] = {{0}}, centres[REGION_COUNT][2] = {{0}};
	double tip = descending[input->n / 10];
	size_t counts[REGION_COUNT] = {0};

	for (size_t i = 0; i < input->n; i++) {
		uint32_t row = input->order[i];
		enum region region = region_of(input->variability[row], input->confidence[row], &cuts);

		if (region == REGION_AMBIGUOUS && input->variability[row] < tip)
			continue;
		sums[region][0] += input->variability[row];
		sums[region][1] += input->confidence[row];
		counts[region]++;
	}
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		data->labels[r].shown = counts[r] > 0;
		if (counts[r] == 0)
			continue;
		centres[r][0] = map_x(data, sums[r][0] / (double)counts[r]);
		centres[r][1] = map_y(sums[r][1] / (double)counts[r]);
	}
	map_place_labels(data, centres);
}

/* The variabilities in descending order; items has room for 2 n. */
static void
sort_variability(const struct map_input *input, struct sort_item *items, double *descending)
{
	for (size_t i = 0; i < input->n; i++)
		items[i] =
		        (struct sort_item){sort_key_descending(input->variability[input->order[i]]), input->order[i]};
	sort_by_key(items, items + input->n, input->n);
	for (size_t i = 0; i < input->n; i++)
		descending[i] = input->variability[items[i].value];
}

void
map_data_free(struct map_data *data)
{
	free(data->points);
	free(data->cells);
	*data = (struct map_data){0};
}

int
map_data_make(const struct map_input *input, const struct map_options *options, struct map_data *data,
              struct portolan_error *error)
{
	uint32_t *rows = malloc(input->n * sizeof(*rows));
	struct sort_item *items = malloc(2 * input->n * sizeof(*items));
	double *descending = malloc(input->n * sizeof(*descending));
	int code = 0;

	*data = (struct map_data){.examples = input->n};
	data->shown = options->sample < input->n ? (size_t)options->sample : input->n;
	data->points = malloc((2 * data->shown + 1) * sizeof(*data->points));
	data->cells = malloc(MAP_CELLS_X * MAP_CELLS_Y * sizeof(*data->cells));
	if (rows && items && descending && data->points && data->cells) {
		for (size_t c = 0; c < MAP_CELLS_X * MAP_CELLS_Y; c++)
			data->cells[c] = NAN;
		memcpy(rows, input->order, input->n * sizeof(*rows));
		sort_variability(input, items, descending);
		data->variability_max = axis_end(descending[0]);
		data->level_count = map_levels(input->epochs, data->levels);
		count_bins(input, data);
		count_cells(input, data);
		take_points(input, options, rows, data);
		find_regions(input, descending, data);
	} else {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to map %zu examples", input->n);
		map_data_free(data);
	}
	free(rows);
	free(items);
	free(descending);
	return code;
}
