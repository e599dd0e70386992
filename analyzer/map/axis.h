/*
 * axis.h: makes the axes of `portolan map`'s pictures: the range of an axis, its tics, and the bins of its histogram.
 * Pure.
 *
 * An axis is made from the ranges of all maps that share it: two runs side by side, or a run after each of its epochs.
 */
#ifndef MAP_AXIS_H
#define MAP_AXIS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_BINS 20 /* bins of a histogram, at most */

enum map_kind {
	MAP_ANY,
	MAP_SHARE,       /* a share: its axis always goes from 0 to 1 */
	MAP_VARIABILITY, /* a standard deviation of probabilities: at most 0.5 */
};

/* One number for each example, by row. */
struct map_column {
	const char *name;     /* shown beside the axis; any text */
	const double *values; /* not finite: the example has none */
	enum map_kind kind;
	double grid; /* the values are multiples of this (of 1, for counts); 0: of nothing */
};

struct map_range {
	double least, most; /* begins as MAP_RANGE_EMPTY */
};
#define MAP_RANGE_EMPTY ((struct map_range){INFINITY, -INFINITY})

struct map_axis {
	char name[272];
	double low, high;  /* the range of the bins */
	double from, to;   /* the range that is shown, margins included */
	double step;       /* between tics */
	double panel_step; /* between tics where there is little room */
	double grid;       /* that of the column; 0: there is none, or it has too many values to tell apart */
	unsigned bins;
	double bin_width;
};

/* Widen a range so that it holds one value, or the values of n examples. Values that are not finite are passed over.
 * map_range_add() tells whether there was none of them. */
void map_range_widen(struct map_range *range, double value);
bool map_range_add(struct map_range *range, const struct map_column *column, const uint32_t *order, size_t n);

/* Makes the axis of a column whose values lie in `range`. `margin` is a share of the range. An empty range and a single
 * value have an axis, too. */
void map_axis_make(struct map_axis *axis, const struct map_column *column, struct map_range range, double margin);

/* The range of the values on the axis, without margins. (On a grid, the bins reach half a step further.) If all values
 * are the same number, the range ends one step of the grid above it. */
struct map_range map_axis_values(const struct map_axis *axis);

/* The number of the bin that the value is in, of `bins` bins between low and high; for a value outside, of the nearest
 * bin. map_bins() finds those of n numbers. */
static inline unsigned
map_bin(double value, double low, double high, unsigned bins)
{
	double bin = (value - low) / (high - low) * bins;

	return bin > 0 ? bin < bins ? (unsigned)bin : bins - 1 : 0;
}

void map_bins(const double *values, size_t n, double low, double high, unsigned bins, uint32_t *numbers);

/* The step between tics that cut a range into about five parts. */
double map_axis_step(double range);

/* The number of decimals for tics that are `step` apart; −1: write them as %g. */
int map_axis_decimals(const struct map_axis *axis, double step);

#endif
