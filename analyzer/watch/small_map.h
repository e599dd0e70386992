/* small_map.h: draws a data map (confidence over variability) in characters, for the screen of portolan watch. Pure. */
#ifndef SMALL_MAP_H
#define SMALL_MAP_H

#include "tally.h"

#define SMALL_MAP_COLUMNS 300 /* at most */
#define SMALL_MAP_LINES 100
#define SMALL_MAP_SHADES 5 /* 0: nothing, … */

struct small_map {
	unsigned columns, lines;
	double variability_max; /* at the right edge; the left one is 0; confidence goes from 0, below, to 1 */
	uint64_t points;
	uint8_t shades[SMALL_MAP_LINES][SMALL_MAP_COLUMNS]; /* the first line is the highest */
	/* The third of correctness, 0, 1 or 2, of the mean of a cell's points. */
	uint8_t thirds[SMALL_MAP_LINES][SMALL_MAP_COLUMNS];
};

/* Shades are steps of the logarithm of a cell's points, the fullest cell the darkest. False: no example has two
 * observations yet, so there is no variability to show. */
bool small_map_make(const struct tally_sample *sample, unsigned columns, unsigned lines, struct small_map *map);

#endif
