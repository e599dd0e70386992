/* plan.c: drawing flips; see flips.h. The draw depends on the ids, not on the order in which examples were recorded. */
#include "flips.h"

#include "base/arrays.h"
#include "base/number.h"
#include "selection/region_list.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <stdlib.h>

static int
compare_labels(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* The classes seen that have no name; the named ones are 0 … named−1. */
static int
list_classes(const struct dynamics *dynamics, int32_t **classes, size_t *count, struct portolan_error *error)
{
	uint64_t named = dynamics->info->label_count;
	int32_t *list = array_new(dynamics->count, sizeof(*list), "gold labels", error);
	size_t n = 0, kept = 0;

	if (!list)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		int32_t gold = dynamics->gold[dynamics->order[i]];

		if (gold >= 0 && (uint64_t)gold >= named && (n == 0 || list[n - 1] != gold))
			list[n++] = gold;
	}
	qsort(list, n, sizeof(*list), compare_labels);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || list[kept - 1] != list[i])
			list[kept++] = list[i];
	*classes = list;
	*count = kept;
	return 0;
}

/* Any class but `old`, of the named ones and `unnamed`. */
static int32_t
draw_label(struct random_state *random, uint64_t named, const int32_t *unnamed, size_t unnamed_count, int32_t old)
{
	uint64_t drawn = random_below(random, named + unnamed_count - 1);
	int32_t label = drawn < named ? (int32_t)drawn : unnamed[drawn - named];

	/* The old class cannot be drawn; if its number comes up, the last class takes its place. */
	if (label != old)
		return label;
	return unnamed_count > 0 ? unnamed[unnamed_count - 1] : (int32_t)(named - 1);
}

static int
not_enough(const struct dynamics *dynamics, size_t easy, size_t wanted, struct portolan_error *error)
{
	char some[NUMBER_ROOM], all[NUMBER_ROOM];

	number_print_grouped(easy, some);
	number_print_grouped(wanted, all);
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "run '%s' has %s easy-to-learn examples, and %s are to be flipped: ask for a smaller --fraction",
	        dynamics->info->name, some, all);
}

/* The easy-to-learn examples with a label, by ascending id; and how many examples have one at all. */
static int
list_easy(const struct dynamics *dynamics, const struct region_cuts *cuts, uint32_t *easy, size_t *count,
          size_t *labelled, struct portolan_error *error)
{
	uint8_t *regions;
	size_t n = 0;
	int code = region_list(dynamics, cuts, &regions, error);

	if (code < 0)
		return code;
	*labelled = 0;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		*labelled += dynamics->gold[row] >= 0;
		if (dynamics->gold[row] >= 0 && regions[row] == REGION_EASY)
			easy[n++] = (uint32_t)i; /* its place in the order, to sort by again */
	}
	array_free(regions);
	*count = n;
	return 0;
}

static int
compare_places(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int
draw(const struct dynamics *dynamics, uint32_t *easy, size_t easy_count, size_t size, uint64_t seed,
     struct flips *flips, struct portolan_error *error)
{
	uint64_t named = dynamics->info->label_count;
	struct random_state random;
	int32_t *unnamed = NULL;
	size_t unnamed_count = 0;
	int code = list_classes(dynamics, &unnamed, &unnamed_count, error);

	if (code < 0)
		return code;
	if (named + unnamed_count < 2)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' knows a single class: there is nothing to flip to", dynamics->info->name);
	else if (!(flips->flips = array_new(size, sizeof(*flips->flips), "flips", error)))
		code = PORTOLAN_E_MEMORY;
	if (code >= 0) {
		random_seed(&random, seed);
		random_sample(&random, easy, easy_count, size);
		qsort(easy, size, sizeof(*easy), compare_places);
		for (size_t i = 0; i < size; i++) {
			uint32_t row = dynamics->order[easy[i]];
			int32_t old = dynamics->gold[row];

			flips->flips[i] =
			        (struct flip){row, old, draw_label(&random, named, unnamed, unnamed_count, old)};
		}
		flips->count = size;
	}
	array_free(unnamed);
	return code;
}

int
flips_plan(const struct dynamics *dynamics, const struct region_cuts *cuts, double fraction, uint64_t seed,
           struct flips *flips, struct portolan_error *error)
{
	size_t size = selection_size(fraction, dynamics->count), easy_count, labelled;
	uint32_t *easy = array_new(dynamics->count, sizeof(*easy), "easy examples", error);
	int code;

	*flips = (struct flips){0};
	if (!easy)
		return PORTOLAN_E_MEMORY;
	code = list_easy(dynamics, cuts, easy, &easy_count, &labelled, error);
	if (code >= 0 && labelled == 0)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has no gold labels: log them (gold=…) to have some flipped",
		                 dynamics->info->name);
	else if (code >= 0 && size == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "%g of %zu examples is none: ask for a larger --fraction",
		                 fraction, dynamics->count);
	else if (code >= 0 && size > easy_count)
		code = not_enough(dynamics, easy_count, size, error);
	if (code >= 0)
		code = draw(dynamics, easy, easy_count, size, seed, flips, error);
	array_free(easy);
	return code;
}
