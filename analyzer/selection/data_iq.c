/* data_iq.c: finds the Data-IQ group of each example: easy, ambiguous or hard. */
#include "data_iq.h"

#include "base/arrays.h"
#include "statistics/top.h"

#include <portolan/portolan.h>

#define EASY_FROM 0.75
#define HARD_TO 0.25

const char *const data_iq_names[REGION_COUNT] = {"easy", "ambiguous", "hard"};

/* The median; of an even number of values, half-way between the two in the middle. */
static int
median_of(const struct dynamics *dynamics, const double *values, double *median, struct portolan_error *error)
{
	size_t lower = dynamics->count / 2 + 1;
	struct sort_item *items = array_new(2 * lower, sizeof(*items), "examples to rank", error);
	double above;

	if (!items)
		return PORTOLAN_E_MEMORY;
	top_of_values(values, false, dynamics->order, dynamics->count, lower, items);
	above = values[items[lower - 1].value];
	*median = above;
	if (dynamics->count % 2 == 0)
		*median = above - (above - values[items[lower - 2].value]) * 0.5;
	array_free(items);
	return 0;
}

int
data_iq_list(const struct dynamics *dynamics, uint8_t **groups, struct portolan_error *error)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const double *aleatoric = dynamics_measure(dynamics, MEASURE_ALEATORIC);
	double median;
	uint8_t *list;

	if (median_of(dynamics, aleatoric, &median, error) < 0)
		return PORTOLAN_E_MEMORY;
	list = array_new(dynamics->ids.rows, 1, "groups", error);
	if (!list)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		bool certain = aleatoric[row] <= median;

		list[row] = certain && confidence[row] >= EASY_FROM ? REGION_EASY
		            : certain && confidence[row] <= HARD_TO ? REGION_HARD
		                                                    : REGION_AMBIGUOUS;
	}
	*groups = list;
	return 0;
}
