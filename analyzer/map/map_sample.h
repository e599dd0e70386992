/*
 * map_sample.h: the sample of examples that a scatter shows: places in the list by ascending id, drawn and shuffled in one
 * step (Fisher and Yates). The places depend only on the number of examples and on the seed, so a seed gives the same
 * picture wherever the run was recorded.
 */
#ifndef MAP_SAMPLE_H
#define MAP_SAMPLE_H

#include "base/sort.h"

#include <stddef.h>
#include <stdint.h>

struct map_sample {
	struct sort_item *items; /* ascending by the key: the example; the value: when it was drawn, from 0 */
	size_t count;
};

/* Draws at most `most` of n < 2^32 examples. `order` has their indices, which become the keys; NULL: the keys are places.
 * `on_top` marks places, or is NULL: then at most `most` of the marked examples are drawn, and as many of the others, and
 * the marked ones come last. *sample is the caller's to map_sample_free(). */
void map_sample_draw(struct map_sample *sample, const uint32_t *order, const uint8_t *on_top, size_t n, uint64_t most,
                     uint64_t seed);
void map_sample_free(struct map_sample *sample); /* may be called twice */

#endif
