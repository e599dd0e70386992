/* axis_of.h: an axis for tests of maps. */
#ifndef AXIS_OF_H
#define AXIS_OF_H

#include "map/axis.h"

static inline struct map_axis
axis_of(enum map_kind kind, double grid, double least, double most, double margin)
{
	const struct map_column column = {.name = "m", .kind = kind, .grid = grid};
	struct map_axis axis;

	map_axis_make(&axis, &column, (struct map_range){least, most}, margin);
	return axis;
}

#endif
