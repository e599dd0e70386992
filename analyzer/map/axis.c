/* axis.c: chooses the range, the bins and the tics of a map's axis: round numbers, and the same for all maps of one
 * measure wherever the data allow it. */
#include "axis.h"

#include <portolan/widths.h>

#include <math.h>
#include <stdio.h>

#define CLOSE 1e-9    /* two numbers count as equal if they differ by less than this, relative to their size */
#define GRID_MOST 200 /* the most values of a grid; among more, neighbours look the same */

void
map_range_widen(struct map_range *range, double value)
{
	if (!isfinite(value))
		return;
	range->least = value < range->least ? value : range->least;
	range->most = value > range->most ? value : range->most;
}

/* Eight ranges side by side, written out as vectors, as the compiler makes none of them. */
typedef double doubles __attribute__((vector_size(8 * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(8 * sizeof(int64_t))));

INLINE doubles
axis_choose(bits which, doubles yes, doubles no)
{
	return (doubles)((which & (bits)yes) | (~which & (bits)no));
}

FOR_EACH_WIDTH bool
map_range_add(struct map_range *range, const struct map_column *column, const uint32_t *order, size_t n)
{
	const double *values = column->values;
	doubles least = (doubles){0} + range->least, most = (doubles){0} + range->most, nothing = {0};
	double rest = 0;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		const uint32_t *at = order + i;
		doubles value = {values[at[0]], values[at[1]], values[at[2]], values[at[3]],
		                 values[at[4]], values[at[5]], values[at[6]], values[at[7]]};
		const doubles zero = value - value; /* NaN where a value is not finite */

		nothing += zero;
		value -= zero; /* what is infinite becomes NaN, which is neither less nor more; −0 stays −0 */
		least = axis_choose(value < least, value, least);
		most = axis_choose(value > most, value, most);
	}
	for (unsigned k = 0; k < 8; k++) {
		range->least = least[k] < range->least ? least[k] : range->least;
		range->most = most[k] > range->most ? most[k] : range->most;
		rest += nothing[k];
	}
	for (; i < n; i++) {
		map_range_widen(range, values[order[i]]);
		rest += values[order[i]] - values[order[i]];
	}
	return rest == 0;
}

FOR_EACH_WIDTH void
map_bins(const double *restrict values, size_t n, double low, double high, unsigned bins, uint32_t *restrict numbers)
{
	const double last = bins - 1;

	for (size_t i = 0; i < n; i++) {
		double bin = (values[i] - low) / (high - low) * bins;

		bin = bin > 0 ? bin : 0;
		numbers[i] = (uint32_t)(int32_t)(bin < last ? bin : last);
	}
}

/* The least round number that is not below `rough`: 1, 2 or 5 times a power of ten. */
static double
axis_round_up(double rough)
{
	double unit = pow(10, floor(log10(rough) + CLOSE)), part = rough / unit * (1 - CLOSE);

	return part <= 1 ? unit : part <= 2 ? 2 * unit : part <= 5 ? 5 * unit : 10 * unit;
}

/* The largest round number that is not above `rough`; with `quarters`, 2.5 times a power of ten is round as well. */
static double
axis_round_down(double rough, bool quarters)
{
	double unit = pow(10, floor(log10(rough) + CLOSE)), part = rough / unit * (1 + CLOSE);

	return part >= 5 ? 5 * unit : part >= 2.5 && quarters ? 2.5 * unit : part >= 2 ? 2 * unit : unit;
}

/* Where an axis of variability ends: at 0.5, so that maps can be laid side by side, as no standard deviation between 0
 * and 1 is larger. It ends earlier if the data would fill less than half of that. */
static double
axis_variability_end(double most)
{
	double end = ceil(most * 20) / 20;

	if (most > 0.25)
		return 0.5;
	return end > 0.05 ? end : 0.05;
}

/* Sets the range of an axis of any other numbers. It reaches to zero if that takes little room, and ends at round
 * numbers. */
static void
axis_set_any(struct map_axis *axis, double least, double most)
{
	double size = fabs(least) > fabs(most) ? fabs(least) : fabs(most), step;

	if (most - least <= CLOSE * size || most - least < 1e-300) {
		double around = size > 0 ? 0.05 * size : 0.5;

		least -= around;
		most += around;
	} else if (least > 0 && least < 0.4 * most) {
		least = 0;
	} else if (most < 0 && most > 0.4 * least) {
		most = 0;
	}
	step = axis_round_up((most - least) / 40);
	axis->low = floor(least / step + CLOSE) * step;
	axis->high = ceil(most / step - CLOSE) * step;
}

/* Sets the bins of values on a grid. A bin holds one of the values; or several, where there are more than MAP_BINS. */
static void
axis_set_grid_bins(struct map_axis *axis)
{
	double values = round((axis->high - axis->low) / axis->grid), each = ceil(values / MAP_BINS);

	axis->bins = (unsigned)ceil(values / each);
	axis->bin_width = each * axis->grid;
}

void
map_axis_make(struct map_axis *axis, const struct map_column *column, struct map_range range, double margin)
{
	if (!(range.least <= range.most))
		range = (struct map_range){0, 0};
	*axis = (struct map_axis){.grid = range.most - range.least <= GRID_MOST * column->grid ? column->grid : 0};
	snprintf(axis->name, sizeof(axis->name), "%s", column->name);
	if (column->kind == MAP_SHARE) {
		axis->high = 1;
	} else if (column->kind == MAP_VARIABILITY) {
		axis->high = axis_variability_end(range.most);
	} else if (axis->grid > 0) {
		axis->low = range.least;
		axis->high = range.most;
	} else {
		axis_set_any(axis, range.least, range.most);
	}
	if (axis->grid > 0) {
		axis->low -= axis->grid / 2;
		axis->high += axis->grid / 2;
		axis_set_grid_bins(axis);
		margin = 0;
	} else {
		axis->bins = MAP_BINS;
		axis->bin_width = (axis->high - axis->low) / MAP_BINS;
	}
	margin *= axis->high - axis->low;
	axis->from = axis->low - margin;
	axis->to = axis->high + margin;
	axis->step = axis_round_up((axis->high - axis->low - axis->grid) / 5 + CLOSE * axis->grid);
	axis->panel_step =
	        axis_round_down((axis->high - axis->low - axis->grid) / 2 + CLOSE * axis->grid, !(axis->grid > 0));
	if (axis->grid >= 1) {
		axis->step = fmax(axis->step, axis->grid);
		axis->panel_step = fmax(axis->panel_step, axis->grid);
	}
}

struct map_range
map_axis_values(const struct map_axis *axis)
{
	double low = axis->low + axis->grid / 2, high = axis->high - axis->grid / 2;

	return (struct map_range){low, high > low ? high : low + axis->grid};
}

double
map_axis_step(double range)
{
	return axis_round_up(range / 5);
}

int
map_axis_decimals(const struct map_axis *axis, double step)
{
	double size = fmax(fabs(axis->low), fabs(axis->high));
	int decimals = 0;

	if (size >= 1e6 || step < 1e-4)
		return -1;
	while (decimals < 5 && fabs(step * pow(10, decimals) - round(step * pow(10, decimals))) > 1e-6)
		decimals++;
	return decimals;
}
