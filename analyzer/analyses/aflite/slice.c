/*
 * slice.c: p is a fraction of small numbers, so whole tens of thousands of examples share one value, and most phases
 * cut through such a group: what orders it decides the result. So the value at the cut is found first, and then only
 * those that have it are put in order.
 */
#include "slice.h"

#include "statistics/random.h"
#include "statistics/top.h"
#include "training.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const slice_heuristic_names[] = {"slice", "greedy", "sample", NULL};
const char *const slice_ties_names[] = {"margin", "hash", "index", NULL};

struct taking {
	const struct slice_request *request;
	double *values;  /* by row */
	uint32_t *order; /* rows that qualify, by ascending example */
	struct sort_item *items;
};

/* One number for every row that is left, in the order of examples: the same whoever qualifies. In (0, 1). */
static void
draw(const struct taking *taking, double *values)
{
	const struct slice_request *request = taking->request;
	struct random_state random;

	training_seed(&random, request->seed, request->phase, TRAINING_EVERYBODY);
	for (size_t i = 0; i < request->count; i++)
		values[request->order[i]] = ((double)(random_next(&random) >> 11) + 0.5) * 0x1p-53;
}

static double
share(const struct slice_request *request, size_t row)
{
	return request->made[row] ? request->correct[row] / (double)request->made[row] : -1;
}

static void
append(struct slice *slice, const struct taking *taking, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slice->rows[slice->count++] = taking->items[i].value;
}

static void
take_sample(struct taking *taking, struct slice *slice, size_t take)
{
	const struct slice_request *request = taking->request;

	draw(taking, taking->values);
	for (size_t i = 0; i < slice->qualified; i++) {
		size_t row = taking->order[i];

		taking->values[row] = log(share(request, row)) - log(-log(taking->values[row]));
	}
	top_of_values(taking->values, true, taking->order, slice->qualified, take, taking->items);
	append(slice, taking, take);
	for (size_t i = 0; i < take; i++)
		slice->lowest = fmin(slice->lowest, share(request, slice->rows[i]));
	for (size_t i = 0; i < slice->qualified; i++)
		slice->tied += share(request, taking->order[i]) == slice->lowest;
	for (size_t i = 0; i < take; i++)
		slice->tied_removed += share(request, slice->rows[i]) == slice->lowest;
}

static void
take_best(struct taking *taking, struct slice *slice, size_t take)
{
	const struct slice_request *request = taking->request;
	size_t above = 0;

	for (size_t i = 0; i < slice->qualified; i++)
		taking->values[taking->order[i]] = share(request, taking->order[i]);
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
		draw(taking, taking->values);
	for (size_t i = 0; request->ties == SLICE_TIES_MARGIN && i < slice->tied; i++)
		taking->values[taking->order[i]] = request->margins[taking->order[i]];
	top_of_values(taking->values, true, taking->order, slice->tied, slice->tied_removed, taking->items);
	append(slice, taking, slice->tied_removed);
}

int
slice_take(const struct slice_request *request, struct slice *slice, struct portolan_error *error)
{
	struct taking taking = {.request = request};
	size_t take;

	*slice = (struct slice){.lowest = request->heuristic == SLICE_SAMPLE ? INFINITY : NAN};
	taking.values = malloc((request->count + 1) * sizeof(*taking.values));
	taking.order = malloc((request->count + 1) * sizeof(*taking.order));
	taking.items = malloc((2 * request->size + 1) * sizeof(*taking.items));
	slice->rows = malloc((request->size + 1) * sizeof(*slice->rows));
	if (!taking.values || !taking.order || !taking.items || !slice->rows) {
		free(taking.values);
		free(taking.order);
		free(taking.items);
		free(slice->rows);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a slice of %zu", request->size);
	}
	for (size_t i = 0; i < request->count; i++) {
		uint32_t row = request->order[i];

		if (request->made[row] > 0 && share(request, row) >= request->threshold)
			taking.order[slice->qualified++] = row;
	}
	take = request->size < slice->qualified ? request->size : slice->qualified;
	if (take > 0 && request->heuristic == SLICE_SAMPLE)
		take_sample(&taking, slice, take);
	else if (take > 0)
		take_best(&taking, slice, take);
	else
		slice->lowest = NAN;
	free(taking.values);
	free(taking.order);
	free(taking.items);
	return 0;
}
