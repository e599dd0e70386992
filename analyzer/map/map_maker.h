/*
 * map_maker.h: makes a map (struct map_data) of examples that come part by part, so that memory does not grow with
 * their number; and draws the sample of examples whose points the map shows.
 *
 *     map_sample_draw() → map_maker_begin() → map_maker_add(), for each part, by ascending index → map_maker_end()
 *
 * A maker is one thread's at a time.
 */
#ifndef MAP_MAKER_H
#define MAP_MAKER_H

#include "base/sort.h"
#include "map_data.h"

/* The examples that a scatter shows. Their places in the list by ascending id are drawn and shuffled in one step
 * (Fisher and Yates). The draw depends only on the number of examples and on the seed, so a seed gives the same picture
 * wherever the run was recorded. */
struct map_sample {
	struct sort_item *items; /* by ascending key (the example); value: its place in drawing order, from 0 */
	size_t count;
};

/* Draws at most `most` of n < 2^32 examples. Keys are the examples' indices, which `order` has, or, if it is NULL,
 * their places. `on_top`, if it is not NULL, marks examples by place: at most `most` of the marked ones are drawn and
 * at most `most` of the others, and the marked ones come last in drawing order. *sample is the caller's to
 * map_sample_free(). */
void map_sample_draw(struct map_sample *sample, const uint32_t *order, const uint8_t *on_top, size_t n, uint64_t most,
                     uint64_t seed);
void map_sample_free(struct map_sample *sample); /* may be called twice */

struct map_cell;

struct map_cuts {
	struct region_cuts regions;
	double tip; /* variability that the most ambiguous tenth of the examples has, or exceeds */
};

/* The sums from which the places of the regions' labels are computed, and how many examples were added. */
struct map_region_sums {
	double x[REGION_COUNT], y[REGION_COUNT];
	size_t counts[REGION_COUNT];
};

struct map_maker {
	const struct map_options *options;
	const struct map_sample *sample; /* its keys are the examples' indices */
	const struct map_cuts *cuts;     /* NULL: no regions */
	unsigned threads;                /* that may work on a part; 0: as with 1, the caller's alone */
	/* private */
	const struct map_input *input; /* describes all examples */
	struct map_data *data;
	struct map_cell *cells;
	size_t next; /* the next item of the sample whose example is to come */
	struct map_region_sums sums;
};

/* The cuts between the regions of all n ≥ 1 examples: those `given`, or, if that is NULL, the default. A maker cannot find
 * them: it gets the examples part by part. */
struct map_cuts map_find_cuts(const struct map_input *input, const struct region_cuts *given);

/* Begins a map. The caller has filled `options`, `sample` and `cuts` of *maker, and keeps what they point to, and
 * `input`, until map_maker_end(). `input` describes all examples: its columns need no values, and its n and order do
 * not matter. *data is the caller's to map_data_free(). */
void map_maker_begin(struct map_maker *maker, const struct map_input *input, const struct map_axes *axes,
                     struct map_data *data);
void map_maker_add(struct map_maker *maker, const struct map_input *part);
void map_maker_end(struct map_maker *maker);

#endif
