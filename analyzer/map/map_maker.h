/*
 * map_maker.h: makes a map of its examples part by part, so that memory does not grow with their number.
 *
 *     map_maker_begin() → map_maker_add(), for each part, by ascending index → map_maker_end()
 *
 * A maker is one thread's at a time.
 */
#ifndef MAP_MAKER_H
#define MAP_MAKER_H

#include "map_data.h"
#include "map_sample.h"

struct map_cell;

struct map_cuts {
	struct region_cuts regions;
	double tip; /* the variability of the example after the first tenth: for the middle of the most ambiguous */
};

struct map_maker {
	const struct map_options *options;
	const struct map_sample *sample; /* its keys are indices */
	const struct map_cuts *cuts;     /* NULL: no regions */
	/* private */
	struct map_data *data;
	struct map_cell *cells;
	size_t next; /* the sample's first item whose example has not come */
	double sums[REGION_COUNT][2];
	size_t counts[REGION_COUNT];
	bool labelled, lined;
	size_t epochs;
};

/* The cuts of the regions: ranks n ≥ 1 examples, which a map of parts cannot do. */
void map_find_cuts(const struct map_input *input, struct map_cuts *cuts);

/* `input` describes all examples: its columns need no values, and n and order do not matter. The caller fills `options`,
 * `sample` and `cuts` of *maker before, and owns them. *data is the caller's to map_data_free(). */
void map_maker_begin(struct map_maker *maker, const struct map_input *input, const struct map_axes *axes,
                     struct map_data *data);
void map_maker_add(struct map_maker *maker, const struct map_input *part);
void map_maker_end(struct map_maker *maker);

#endif
