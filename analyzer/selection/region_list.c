/* region_list.c: see region_list.h. */
#include "region_list.h"

#include "statistics/sort.h"

#include <portolan/error.h>

#include <stdlib.h>

/* The cuts for a run, from its own variability. */
static int
default_cuts(const struct dynamics *dynamics, const double *variability, struct region_cuts *cuts,
             struct portolan_error *error)
{
	size_t n = dynamics->count;
	struct sort_item *items = malloc(2 * n * sizeof(*items));
	double *descending = malloc(n * sizeof(*descending));
	int code = 0;

	if (!items || !descending) {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %zu examples", n);
	} else {
		for (size_t i = 0; i < n; i++)
			items[i] = (struct sort_item){sort_key_descending(variability[dynamics->order[i]]),
			                              dynamics->order[i]};
		sort_by_key(items, items + n, n);
		for (size_t i = 0; i < n; i++)
			descending[i] = variability[items[i].value];
		*cuts = regions_default_cuts(descending, n);
	}
	free(items);
	free(descending);
	return code;
}

int
region_list(const struct dynamics *dynamics, const struct region_cuts *cuts, uint8_t **regions,
            struct portolan_error *error)
{
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	struct region_cuts own;
	uint8_t *list;

	if (!cuts && default_cuts(dynamics, variability, &own, error) < 0)
		return PORTOLAN_E_MEMORY;
	list = malloc(dynamics->ids.rows + 1);
	if (!list)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu examples", dynamics->ids.rows);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		list[row] = (uint8_t)region_of(variability[row], confidence[row], cuts ? cuts : &own);
	}
	*regions = list;
	return 0;
}
