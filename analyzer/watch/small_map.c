/* small_map.c: draws a data map (confidence over variability) in characters, for the screen of portolan watch. The
 * right edge is 0.5, the largest variability there can be, or 0.25 if that is enough. */
#include "small_map.h"

#include <math.h>
#include <string.h>

static unsigned
small_map_cell(double value, double end, unsigned cells)
{
	double cell = value / end * cells;

	return cell > 0 ? cell < cells ? (unsigned)cell : cells - 1 : 0;
}

static double
small_map_most_variable(const struct tally_sample *sample, bool *any)
{
	double most = 0;

	*any = false;
	for (size_t i = 0; i < tally_sample_points(sample); i++) {
		double variability = tally_variability(&sample->points[i]);

		*any = *any || sample->points[i].count > 1;
		most = variability > most ? variability : most;
	}
	return most;
}

bool
small_map_make(const struct tally_sample *sample, unsigned columns, unsigned lines, struct small_map *map)
{
	uint32_t counts[SMALL_MAP_LINES][SMALL_MAP_COLUMNS] = {{0}}, most = 0;
	double right[SMALL_MAP_LINES][SMALL_MAP_COLUMNS] = {{0}}; /* by cell: sum of the points' correctness */
	bool any;

	*map = (struct small_map){.columns = columns < SMALL_MAP_COLUMNS ? columns : SMALL_MAP_COLUMNS,
	                          .lines = lines < SMALL_MAP_LINES ? lines : SMALL_MAP_LINES};
	if (map->columns == 0 || map->lines == 0)
		return false;
	map->variability_max = small_map_most_variable(sample, &any) > 0.25 ? 0.5 : 0.25;
	for (size_t i = 0; any && i < tally_sample_points(sample); i++) {
		const struct tally_point *point = &sample->points[i];
		unsigned line, column;

		if (point->count == 0)
			continue;
		line = map->lines - 1 - small_map_cell(point->mean, 1, map->lines);
		column = small_map_cell(tally_variability(point), map->variability_max, map->columns);
		map->points++;
		right[line][column] += (double)point->right / point->count;
		if (++counts[line][column] > most)
			most = counts[line][column];
	}
	for (unsigned l = 0; l < map->lines; l++)
		for (unsigned c = 0; c < map->columns; c++)
			if (counts[l][c]) {
				map->shades[l][c] = (uint8_t)(1 + small_map_cell(log(counts[l][c]), log(most) + 1e-9,
				                                                 SMALL_MAP_SHADES - 1));
				map->thirds[l][c] = (uint8_t)small_map_cell(right[l][c] / counts[l][c], 1, 3);
			}
	return any;
}
