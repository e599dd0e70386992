/* strata.c: for `portolan select --strata`: chooses a subset that covers the whole range of a measure (coverage-centric
 * selection; strata.h). */
#include "strata.h"

#include "balanced.h"
#include "die/memory.h"
#include "sizes.h"
#include "statistics/top.h"

#include <math.h>
#include <string.h>

size_t
strata_find(double value, double lowest, double highest, size_t count)
{
	double width = (highest - lowest) / (double)count;
	size_t at = width > 0 ? (size_t)((value - lowest) / width) : 0;

	return at < count ? at : count - 1;
}

/* Fills `list` with the examples that are not cut off, in the order of the ranking, but those with finite values first.
 * Returns how many have finite values; *count is how many there are in all. */
static size_t
strata_list_rest(const struct strata *strata, uint32_t *list, size_t *count)
{
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * strata->n, sizeof(*items), "examples to rank");
	size_t cut = selection_size(strata->cut, strata->n), finite = 0, last = 0;
	struct sort_item *rest = items + cut;

	top_of_values(strata->values, strata->descending, strata->list, strata->n, strata->n, items);
	*count = strata->n - cut;
	for (size_t i = 0; i < *count; i++)
		finite += isfinite(strata->values[rest[i].value]);
	last = finite;
	finite = 0;
	for (size_t i = 0; i < *count; i++)
		list[isfinite(strata->values[rest[i].value]) ? finite++ : last++] = rest[i].value;
	return finite;
}

size_t
strata_rank(const struct strata *strata, size_t limit, uint32_t *ranked)
{
	CLEANUP_ARRAY uint32_t *list = memory_array(strata->n, sizeof(*list), "examples to rank");
	CLEANUP_ARRAY uint32_t *groups = memory_array(strata->n, sizeof(*groups), "strata of examples");
	struct random_state random;
	size_t count, finite = strata_list_rest(strata, list, &count), drawn;

	if (finite > 0) { /* the values are sorted: their range is that of the two ends */
		double first = strata->values[list[0]], last = strata->values[list[finite - 1]];

		for (size_t i = 0; i < finite; i++)
			groups[i] = (uint32_t)strata_find(strata->values[list[i]], fmin(first, last), fmax(first, last),
			                                  strata->count);
	}
	random_seed(&random, strata->seed);
	limit = limit < count ? limit : count;
	drawn = limit < finite ? limit : finite;
	balanced_order(list, groups, finite, strata->count, 1, &random, drawn, ranked);
	memcpy(ranked + drawn, list + finite, (limit - drawn) * sizeof(*ranked));
	return limit;
}
