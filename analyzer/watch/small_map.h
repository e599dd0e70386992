/* small_map.h: draws a data map (confidence, or the mean loss, over variability) in characters, for the screen of portolan watch. Pure. */
#ifndef SMALL_MAP_H
#define SMALL_MAP_H

#include "tally.h"

#define SMALL_MAP_COLUMNS 300 /* at most */
#define SMALL_MAP_LINES 100
#define SMALL_MAP_SHADES 5 /* 0: no point; 4: the most points */

struct small_map {
	unsigned columns, lines;
	double variability_max;    /* at the right edge; 0 at the left one */
	double mean_min, mean_max; /* at the bottom and the top: 0 and 1 of confidence, the sample's ends of losses */
	uint64_t points;
	uint8_t shades[SMALL_MAP_LINES][SMALL_MAP_COLUMNS]; /* the first line is the top one */
	/* By the mean correctness of a cell's points: 0 up to a third, 1 up to two thirds, 2 above. */
	uint8_t thirds[SMALL_MAP_LINES][SMALL_MAP_COLUMNS];
};

/* Draws the map. A cell's shade is a step of the logarithm of its number of points; the fullest cell is the darkest.
 * False: no example has two observations yet, so there is no variability to show. */
bool small_map_make(const struct tally_sample *sample, bool of_losses, unsigned columns, unsigned lines,
                    struct small_map *map);

#endif
