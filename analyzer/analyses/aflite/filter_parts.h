/* filter_parts.h: what the files of filter.h share. Private to them. */
#ifndef AFLITE_FILTER_PARTS_H
#define AFLITE_FILTER_PARTS_H

#include "filter.h"

/* by_rank, and the training sets of the phase that begins. */
int filter_draw(struct filter *filter, struct portolan_error *error);

/* Fits a classifier to each: filter->weights. Fills sweeps and unfinished. */
int filter_fit(struct filter *filter, struct filter_log *log, struct portolan_error *error);

struct problem filter_problem(const struct filter *filter);
int filter_out_of_memory(const struct filter *filter, struct portolan_error *error);

/* Floats of a classifier's weights. */
static inline size_t
filter_vector(const struct filter *filter)
{
	return (filter->classes - 1) * filter->matrix.stride;
}

static inline size_t
filter_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

#endif
