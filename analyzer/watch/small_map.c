/* small_map.c: draws a data map (confidence, or the mean loss, over variability) in characters, for the screen of
 * portolan watch. Of confidence, the right edge is 0.5, the largest variability there can be, or 0.25 if that is enough.
 * Of losses, which have no such ends, the edges are those of the points. */
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

static void
small_map_fit_losses(const struct tally_sample *sample, double most_variable, struct small_map *map)
{
	map->mean_min = INFINITY;
	map->mean_max = -INFINITY;
	for (size_t i = 0; i < tally_sample_points(sample); i++) {
		if (sample->points[i].count == 0)
			continue;
		map->mean_min = fmin(map->mean_min, sample->points[i].mean);
		map->mean_max = fmax(map->mean_max, sample->points[i].mean);
	}
	if (map->mean_max <= map->mean_min)
		map->mean_max = map->mean_min + 1;
	map->variability_max = most_variable > 0 ? most_variable : 1;
}

bool
small_map_make(const struct tally_sample *sample, bool of_losses, unsigned columns, unsigned lines,
               struct small_map *map)
{
	uint32_t counts[SMALL_MAP_LINES][SMALL_MAP_COLUMNS] = {{0}}, most = 0;
	double right[SMALL_MAP_LINES][SMALL_MAP_COLUMNS] = {{0}}; /* by cell: sum of the points' correctness */
	double most_variable;
	bool any;

	*map = (struct small_map){.columns = columns < SMALL_MAP_COLUMNS ? columns : SMALL_MAP_COLUMNS,
	                          .lines = lines < SMALL_MAP_LINES ? lines : SMALL_MAP_LINES};
	if (map->columns == 0 || map->lines == 0)
		return false;
	most_variable = small_map_most_variable(sample, &any);
	map->variability_max = most_variable > 0.25 ? 0.5 : 0.25;
	map->mean_max = 1;
	if (any && of_losses)
		small_map_fit_losses(sample, most_variable, map);
	for (size_t i = 0; any && i < tally_sample_points(sample); i++) {
		const struct tally_point *point = &sample->points[i];
		unsigned line, column;

		if (point->count == 0)
			continue;
		line = map->lines - 1 -
		       small_map_cell(point->mean - map->mean_min, map->mean_max - map->mean_min, map->lines);
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
