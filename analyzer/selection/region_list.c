/* region_list.c: finds a run's default cuts, and the region of each of its examples. */
#include "region_list.h"

#include "base/arrays.h"
#include "statistics/top.h"

#include <portolan/portolan.h>

int
region_cuts_of(const struct dynamics *dynamics, struct region_cuts *cuts, struct portolan_error *error)
{
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	size_t third = dynamics->count / 3; /* all that the cuts are made from */
	struct sort_item *items = array_new(2 * third, sizeof(*items), "examples to rank", error);
	double *descending = array_new(third, sizeof(*descending), "values to rank by", error);
	bool done = items && descending;

	if (done) {
		top_of_values(variability, true, dynamics->order, dynamics->count, third, items);
		for (size_t i = 0; i < third; i++)
			descending[i] = variability[items[i].value];
		*cuts = regions_default_cuts(descending, dynamics->count);
	}
	array_free(items);
	array_free(descending);
	return done ? 0 : PORTOLAN_E_MEMORY;
}

int
region_list(const struct dynamics *dynamics, const struct region_cuts *cuts, uint8_t **regions,
            struct portolan_error *error)
{
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	struct region_cuts own;
	uint8_t *list;

	if (!cuts && region_cuts_of(dynamics, &own, error) < 0)
		return PORTOLAN_E_MEMORY;
	list = array_new(dynamics->ids.rows, 1, "regions", error);
	if (!list)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		list[row] = (uint8_t)region_of(variability[row], confidence[row], cuts ? cuts : &own);
	}
	*regions = list;
	return 0;
}
