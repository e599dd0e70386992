/*
 * slice.c: chooses the examples that a phase of AFLite removes (a slice), for filter.c: the most predictable ones, or
 * some drawn in proportion to how predictable they are.
 *
 * p, the share of right predictions, is a fraction of small numbers. So tens of thousands of examples share one value,
 * and most phases cut through such a group. The value at the cut is found first; then only the examples that have it
 * are put in order.
 */
#include "slice.h"

#include "die/memory.h"
#include "statistics/random.h"
#include "statistics/top.h"
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const slice_heuristic_names[] = {"slice", "greedy", "sample", NULL};
const char *const slice_ties_names[] = {"margin", "hash", "index", NULL};

struct taking {
	const struct slice_request *request;
	double *values;  /* by row: what rows are ranked by; larger values are removed first */
	uint32_t *order; /* the rows that qualify, by ascending example */
	struct sort_item *items;
};

/* Draws a random number in (0, 1) for every row that is left, in the order of the examples. So a row's number does not
 * depend on which rows qualify. */
static void
slice_draw(const struct taking *taking, double *values)
{
	const struct slice_request *request = taking->request;
	struct random_state random;

	training_seed(&random, request->seed, request->phase, TRAINING_EVERYBODY);
	for (size_t i = 0; i < request->count; i++)
		values[request->order[i]] = ((double)(random_next(&random) >> 11) + 0.5) * 0x1p-53;
}

/* The p of a row, the share of its predictions that are right; −1: no prediction was made of it. */
static double
slice_share(const struct slice_request *request, size_t row)
{
	return request->made[row] ? request->correct[row] / (double)request->made[row] : -1;
}

static void
slice_append(struct slice *slice, const struct taking *taking, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slice->rows[slice->count++] = taking->items[i].value;
}

static void
slice_take_sample(struct taking *taking, struct slice *slice, size_t take)
{
	const struct slice_request *request = taking->request;

	slice_draw(taking, taking->values);
	for (size_t i = 0; i < slice->qualified; i++) {
		size_t row = taking->order[i];

		taking->values[row] = log(slice_share(request, row)) - log(-log(taking->values[row]));
	}
	top_of_values(taking->values, true, taking->order, slice->qualified, take, taking->items);
	slice_append(slice, taking, take);
	slice->lowest = INFINITY;
	for (size_t i = 0; i < take; i++)
		slice->lowest = fmin(slice->lowest, slice_share(request, slice->rows[i]));
	for (size_t i = 0; i < slice->qualified; i++)
		slice->tied += slice_share(request, taking->order[i]) == slice->lowest;
	for (size_t i = 0; i < take; i++)
		slice->tied_removed += slice_share(request, slice->rows[i]) == slice->lowest;
}

static void
slice_take_best(struct taking *taking, struct slice *slice, size_t take)
{
	const struct slice_request *request = taking->request;
	size_t above = 0;

	for (size_t i = 0; i < slice->qualified; i++)
		taking->values[taking->order[i]] = slice_share(request, taking->order[i]);
	top_of_values(taking->values, true, taking->order, slice->qualified, take, taking->items);
	slice->lowest = taking->values[taking->items[take - 1].value];
	for (size_t i = 0; i < slice->qualified; i++) {
		uint32_t row = taking->order[i];

		if (taking->values[row] > slice->lowest)
			slice->rows[above++] = row;
		else if (taking->values[row] == slice->lowest)
			taking->order[slice->tied++] = row;
	}
	slice->count = above;
	slice->tied_removed = take - above;
	if (request->ties == SLICE_TIES_HASH)
		slice_draw(taking, taking->values);
	for (size_t i = 0; request->ties == SLICE_TIES_MARGIN && i < slice->tied; i++)
		taking->values[taking->order[i]] = request->margins[taking->order[i]];
	top_of_values(taking->values, true, taking->order, slice->tied, slice->tied_removed, taking->items);
	slice_append(slice, taking, slice->tied_removed);
}

struct slice
slice_take(const struct slice_request *request)
{
	CLEANUP_FREE double *values = memory_new(request->count, sizeof(*values));
	CLEANUP_FREE uint32_t *order = memory_new(request->count, sizeof(*order));
	CLEANUP_FREE struct sort_item *items = memory_new(2 * request->size, sizeof(*items));
	struct taking taking = {.request = request, .values = values, .order = order, .items = items};
	struct slice slice = {.rows = memory_new(request->size, sizeof(*slice.rows)), .lowest = NAN};
	size_t take;

	for (size_t i = 0; i < request->count; i++) {
		uint32_t row = request->order[i];

		if (request->made[row] > 0 && slice_share(request, row) >= request->threshold)
			order[slice.qualified++] = row;
	}
	take = request->size < slice.qualified ? request->size : slice.qualified;
	if (take > 0 && request->heuristic == SLICE_SAMPLE)
		slice_take_sample(&taking, &slice, take);
	else if (take > 0)
		slice_take_best(&taking, &slice, take);
	return slice;
}
