/*
 * map_sample.h: which examples a scatter shows: places in the list by ascending id, drawn and shuffled in one go
 * (Fisher and Yates), so that a seed gives the same picture wherever the run was recorded.
 * The places depend on how many examples there are, and on the seed.
 */
#ifndef MAP_SAMPLE_H
#define MAP_SAMPLE_H

#include "statistics/sort.h"

#include <portolan/portolan.h>

struct map_sample {
	struct sort_item *items; /* ascending by place, the key; value: when it was drawn, from 0 */
	size_t count;
};

/* At most `most` of n < 2^32 examples. *sample is the caller's to map_sample_free(). */
int map_sample_draw(struct map_sample *sample, size_t n, uint64_t most, uint64_t seed, struct portolan_error *error);

/* The same, of those that are marked and of the others apart: at most `most` of each, and the marked ones are drawn
 * last. marked[place] is 0 or not. */
int map_sample_draw_apart(struct map_sample *sample, const uint8_t *marked, size_t n, uint64_t most, uint64_t seed,
                          struct portolan_error *error);
void map_sample_free(struct map_sample *sample); /* may be called twice */

/* From places in `order` to what stands there, and sorted by that. */
int map_sample_index(struct map_sample *sample, const uint32_t *order, struct portolan_error *error);

#endif
