/* data_iq.c: finds the Data-IQ group of each example (easy, ambiguous or hard), for the rules of `portolan select` that
 * choose such a group. */
#include "data_iq.h"

#include "die/memory.h"
#include "statistics/top.h"

#define EASY_FROM 0.75
#define HARD_TO 0.25

const char *const data_iq_names[REGION_COUNT] = {"easy", "ambiguous", "hard"};

/* The median. Of an even number of values it is half-way between the two in the middle. */
static double
data_iq_median(const struct dynamics *dynamics, const double *values)
{
	size_t lower = dynamics->count / 2 + 1;
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * lower, sizeof(*items), "examples to rank");
	double above;

	top_of_values(values, false, dynamics->order, dynamics->count, lower, items);
	above = values[items[lower - 1].value];
	if (dynamics->count % 2 == 0)
		return above - (above - values[items[lower - 2].value]) * 0.5;
	return above;
}

uint8_t *
data_iq_list(const struct dynamics *dynamics)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const double *aleatoric = dynamics_measure(dynamics, MEASURE_ALEATORIC);
	double median = data_iq_median(dynamics, aleatoric);
	uint8_t *list = memory_array(dynamics->ids.rows, 1, "groups");

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		bool certain = aleatoric[row] <= median;

		list[row] = certain && confidence[row] >= EASY_FROM ? REGION_EASY
		            : certain && confidence[row] <= HARD_TO ? REGION_HARD
		                                                    : REGION_AMBIGUOUS;
	}
	return list;
}
