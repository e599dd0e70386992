/* region_list.c: see region_list.h. */
#include "region_list.h"

#include "statistics/top.h"

#include <portolan/error.h>

#include <stdlib.h>

/* The cuts for a run, from its own variability. */
static int
default_cuts(const struct dynamics *dynamics, const double *variability, struct region_cuts *cuts,
             struct portolan_error *error)
{
	size_t third = dynamics->count / 3; /* all that the cuts are made from */
	struct sort_item *items = malloc((2 * third + 1) * sizeof(*items));
	double *descending = malloc((third + 1) * sizeof(*descending));
	int code = 0;

	if (!items || !descending) {
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %zu examples", third);
	} else {
		top_of_values(variability, true, dynamics->order, dynamics->count, third, items);
		for (size_t i = 0; i < third; i++)
			descending[i] = variability[items[i].value];
		*cuts = regions_default_cuts(descending, dynamics->count);
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
