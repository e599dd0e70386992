/* map_data.c: computes what all files that make and draw maps need: axes, levels of correctness, places in the frame,
 * and the difference of two maps. */
#include "map_data.h"

#include "base/arrays.h"

#include <math.h>
#include <stdlib.h>

void
map_data_free(struct map_data *data)
{
	array_free(data->points);
	free(data->counts);
	free(data->means);
	*data = (struct map_data){0};
}

unsigned
map_levels(size_t epochs, struct map_level levels[MAP_LEVELS_MAX])
{
	static const char *const steps[] = {"none", "1–19%", "20–39%", "40–59%", "60–79%", "80–99%", "all"};
	unsigned count = epochs < MAP_LEVELS_MAX ? (unsigned)epochs + 1 : MAP_LEVELS_MAX;

	for (unsigned k = 0; k < count; k++) {
		levels[k] = (struct map_level){.slot = (k * (MAP_LEVELS_MAX - 1) + (count - 1) / 2) / (count - 1)};
		if (k == 0 || k == count - 1 || epochs >= MAP_LEVELS_MAX)
			snprintf(levels[k].name, sizeof(levels[k].name), "%s", k == count - 1 ? "all" : steps[k]);
		else
			snprintf(levels[k].name, sizeof(levels[k].name), "%u of %zu", k, epochs);
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
	step = (unsigned)(correctness * 5 +
	                  1e-9); /* 3 of 5 epochs are in the fourth step, even if 0.6 × 5 is rounded to less than 3 */
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

bool
map_ranges_add(struct map_ranges *ranges, const struct map_input *input)
{
	const bool all = map_range_add(&ranges->x, &input->x, input->order, input->n);

	if (input->colouring == MAP_BY_VALUE)
		map_range_add(&ranges->colour, &input->colour, input->order, input->n);
	return map_range_add(&ranges->y, &input->y, input->order, input->n) && all;
}

static void
map_range_join(struct map_range *range, const struct map_range *other)
{
	map_range_widen(range, other->least);
	map_range_widen(range, other->most);
}

void
map_ranges_join(struct map_ranges *ranges, const struct map_ranges *others)
{
	map_range_join(&ranges->x, &others->x);
	map_range_join(&ranges->y, &others->y);
	map_range_join(&ranges->colour, &others->colour);
}

/* How many cells stand along an axis: one for each value of a grid that has up to `most` values; else `tenths` tenths
 * of `most`. */
static unsigned
map_cells_along(const struct map_axis *axis, unsigned most, unsigned tenths)
{
	double values = axis->grid > 0 ? round((axis->high - axis->low) / axis->grid) : INFINITY;

	return values <= most ? (unsigned)values : most / 10 * tenths;
}

void
map_axes_make(struct map_axes *axes, const struct map_input *input, const struct map_ranges *ranges, size_t n)
{
	/* The cells are square. Fewer examples get larger cells, so that even among a few thousand examples some share
	 * a cell. */
	double steps = round(sqrt((double)n) / 7.5);
	unsigned tenths = steps < 3 ? 3 : steps < 10 ? (unsigned)steps : 10;

	*axes = (struct map_axes){0};
	map_axis_make(&axes->x, &input->x, ranges->x, 0.024);
	map_axis_make(&axes->y, &input->y, ranges->y, 0.03);
	if (input->colouring == MAP_BY_VALUE)
		map_axis_make(&axes->colour, &input->colour, ranges->colour, 0);
	axes->cells_x = map_cells_along(&axes->x, MAP_CELLS_X, tenths);
	axes->cells_y = map_cells_along(&axes->y, MAP_CELLS_Y, tenths);
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
