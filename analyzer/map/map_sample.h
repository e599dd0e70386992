/*
 * map_sample.h: the sample of examples in a scatter: places in the list by ascending id, drawn and shuffled in one step
 * (Fisher and Yates). The places depend only on the number of examples and on the seed, so a seed gives the same
 * picture wherever the run was recorded.
 */
#ifndef MAP_SAMPLE_H
#define MAP_SAMPLE_H

#include "base/sort.h"

#include <portolan/portolan.h>

struct map_sample {
	struct sort_item *items; /* ascending by place, the key; value: when it was drawn, from 0 */
	size_t count;
};

/* At most `most` of n < 2^32 examples. *sample is the caller's to map_sample_free(). */
int map_sample_draw(struct map_sample *sample, size_t n, uint64_t most, uint64_t seed, struct portolan_error *error);

/* The same for marked and for other examples separately: at most `most` of each, with the marked ones drawn last.
 * marked[place] is not 0 for a marked example. */
int map_sample_draw_apart(struct map_sample *sample, const uint8_t *marked, size_t n, uint64_t most, uint64_t seed,
                          struct portolan_error *error);
void map_sample_free(struct map_sample *sample); /* may be called twice */

/* Replaces places in `order` by the entries there, and sorts by these. */
int map_sample_index(struct map_sample *sample, const uint32_t *order, struct portolan_error *error);

#endif
