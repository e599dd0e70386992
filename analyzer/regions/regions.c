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
regions_default_cuts(const double *descending_variability, size_t n)
{
	size_t third = n / 3;

	/* With fewer than three examples, no example is in the top third. */
	return (struct region_cuts){
	        .variability = third > 0 ? descending_variability[third - 1] : INFINITY,
	        .confidence = 0.5,
	};
}

int
region_cuts_of(const struct dynamics *dynamics, struct region_cuts *cuts, struct portolan_error *error)
{
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	/* the cuts depend on this many examples alone, those of the highest variability */
	size_t third = dynamics->count / 3;
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
