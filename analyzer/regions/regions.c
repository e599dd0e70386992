/* regions.c: tells in which region of a data map an example lies: easy-to-learn, ambiguous, or hard-to-learn
 * (regions.h). */
#include "regions.h"

#include "base/arrays.h"
#include "base/number.h"
#include "statistics/top.h"

#include <math.h>
#include <string.h>

const char *const region_names[REGION_COUNT] = {"easy-to-learn", "ambiguous", "hard-to-learn"};

bool
regions_parse_cuts(const char *text, struct region_cuts *cuts)
{
	const char *comma = strchr(text, ',');
	struct region_cuts parsed;
	char first[64] = "";

	if (!comma || (size_t)(comma - text) >= sizeof(first))
		return false;
	memcpy(first, text, (size_t)(comma - text));
	if (!number_parse(first, &parsed.variability) || !number_parse(comma + 1, &parsed.confidence) ||
	    parsed.variability < 0)
		return false;
	*cuts = parsed;
	return true;
}

struct region_cuts
regions_default_cuts(const double *values, const uint32_t *order, size_t n)
{
	size_t third = n / 3;

	/* With fewer than three examples, no example is in the top third. */
	return (struct region_cuts){
	        .variability = third > 0 ? top_value(values, true, order, n, third) : INFINITY,
	        .confidence = 0.5,
	};
}

struct region_cuts
region_cuts_of(const struct dynamics *dynamics)
{
	return regions_default_cuts(dynamics_measure(dynamics, MEASURE_VARIABILITY), dynamics->order, dynamics->count);
}

int
region_list(const struct dynamics *dynamics, const struct region_cuts *cuts, uint8_t **regions,
            struct portolan_error *error)
{
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	const struct region_cuts used = cuts ? *cuts : region_cuts_of(dynamics);
	uint8_t *list;

	list = array_new(dynamics->ids.rows, 1, "regions", error);
	if (!list)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		list[row] = (uint8_t)region_of(variability[row], confidence[row], &used);
	}
	*regions = list;
	return 0;
}
