/*
 * plan.c: draws the examples whose labels are to be changed on purpose: flips, or threshold samples.
 *
 * Examples are drawn by their places in the order of ids. So a draw does not depend on the order of recording.
 */
#include "flips.h"

#include "base/number.h"
#include "die/memory.h"
#include "selection/classes.h"
#include "selection/region_list.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <portolan/error.h>

/* The classes of a run: 0 … named − 1, and those beyond that some label has, ascending. */
struct plan_classes {
	struct classes seen;
	uint64_t named;
	const int32_t *unnamed; /* within `seen` */
	size_t unnamed_count;
};

static void
plan_find_classes(struct plan_classes *classes, const struct dynamics *dynamics)
{
	size_t c = 0;

	if (classes_make(&classes->seen, dynamics->gold, dynamics->order, dynamics->count, NULL) < 0)
		memory_need(NULL);
	classes->named = dynamics->info->label_count;
	while (c < classes->seen.count && classes->seen.labels[c] < (int64_t)classes->named)
		c++;
	classes->unnamed = classes->seen.labels + c;
	classes->unnamed_count = classes->seen.count - c;
}

static void
plan_free_classes(struct plan_classes *classes)
{
	classes_free(&classes->seen);
}

static int
plan_compare_places(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Lists the examples at `places` in the order of ids, by ascending id. Their new label is still the old one. */
static struct flips
plan_list(const struct dynamics *dynamics, uint32_t *places, size_t count)
{
	struct flips flips = {.flips = memory_array(count, sizeof(*flips.flips), "flips"), .count = count};

	qsort(places, count, sizeof(*places), plan_compare_places);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = dynamics->order[places[i]];

		flips.flips[i] = (struct flip){row, dynamics->gold[row], dynamics->gold[row]};
	}
	return flips;
}

/* Draws a label other than `old`. */
static int32_t
plan_draw_label(struct random_state *random, const struct plan_classes *classes, int32_t old)
{
	uint64_t drawn = random_below(random, classes->named + classes->unnamed_count - 1);
	int32_t label = drawn < classes->named ? (int32_t)drawn : classes->unnamed[drawn - classes->named];

	/* The last class is never drawn; it takes the place of the old one. */
	if (label != old)
		return label;
	return classes->unnamed_count > 0 ? classes->unnamed[classes->unnamed_count - 1]
	                                  : (int32_t)(classes->named - 1);
}

/* Checks that `size` examples, a share `fraction` of all, can be drawn from the easy-to-learn ones. */
static int
plan_check_size(const struct dynamics *dynamics, double fraction, size_t size, size_t easy, size_t labelled,
                struct portolan_error *error)
{
	const char *name = dynamics->info->name;

	if (labelled == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has no gold labels: log them (gold=…) to have some flipped", name);
	if (size == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%g of %zu examples is none: ask for a larger --fraction",
		                 fraction, dynamics->count);
	if (size > easy)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "run '%s' has %s easy-to-learn examples, and %s are to be flipped: ask for a smaller --fraction",
		        name, NUMBER_GROUPED(easy), NUMBER_GROUPED(size));
	return 0;
}

int
flips_plan(const struct dynamics *dynamics, const struct region_cuts *cuts, double fraction, uint64_t seed,
           struct flips *flips, struct portolan_error *error)
{
	size_t size = selection_size(fraction, dynamics->count), easy = 0, labelled = 0;
	CLEANUP_ARRAY uint32_t *places = memory_array(dynamics->count, sizeof(*places), "easy examples");
	CLEANUP_ARRAY uint8_t *regions = NULL;
	CLEANUP(plan_free_classes) struct plan_classes classes = {.named = 0};
	struct random_state random;

	if (region_list(dynamics, cuts, &regions, error) < 0)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		labelled += dynamics->gold[row] >= 0;
		if (dynamics->gold[row] >= 0 && regions[row] == REGION_EASY)
			places[easy++] = (uint32_t)i;
	}
	if (plan_check_size(dynamics, fraction, size, easy, labelled, error) < 0)
		return PORTOLAN_E_INVALID;
	plan_find_classes(&classes, dynamics);
	if (classes.named + classes.unnamed_count < 2)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' knows a single class: there is nothing to flip to", dynamics->info->name);
	random_seed(&random, seed);
	random_sample(&random, places, easy, size);
	*flips = plan_list(dynamics, places, size);
	for (size_t i = 0; i < size; i++)
		flips->flips[i].new_label = plan_draw_label(&random, &classes, flips->flips[i].old_label);
	return 0;
}

/* Checks that there are `set` disjoint sets of `size` examples. */
static int
plan_check_set(const struct dynamics *dynamics, size_t size, size_t labelled, uint64_t set,
               struct portolan_error *error)
{
	const char *name = dynamics->info->name;

	if (labelled == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has no gold labels: log them (gold=…) to have some changed", name);
	if (size == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "of %zu examples none would be a threshold sample: ask for a larger --fraction",
		                 labelled);
	if (set > labelled / size)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "run '%s' has %zu examples with a label, which is %zu sets of %zu: --set %llu is beyond", name,
		        labelled, labelled / size, size, (unsigned long long)set);
	return 0;
}

int
flips_plan_samples(const struct dynamics *dynamics, double fraction, uint64_t set, uint64_t seed, struct flips *samples,
                   struct portolan_error *error)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(dynamics->count, sizeof(*places), "labelled examples");
	CLEANUP(plan_free_classes) struct plan_classes classes = {.named = 0};
	size_t labelled = 0, size;
	struct random_state random;
	int64_t extra;

	plan_find_classes(&classes, dynamics);
	extra = classes.unnamed_count > 0 ? (int64_t)classes.unnamed[classes.unnamed_count - 1] + 1
	                                  : (int64_t)classes.named;
	if (extra > INT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has the class %d, and none is left above it: number the classes from 0",
		                 dynamics->info->name, INT32_MAX);
	for (size_t i = 0; i < dynamics->count; i++)
		if (dynamics->gold[dynamics->order[i]] >= 0)
			places[labelled++] = (uint32_t)i;
	size = fraction > 0 ? selection_size(fraction, dynamics->count)
	                    : labelled / (classes.named + classes.unnamed_count + 1);
	if (plan_check_set(dynamics, size, labelled, set, error) < 0)
		return PORTOLAN_E_INVALID;
	random_seed(&random, seed);
	random_sample(&random, places, labelled, set * size); /* each set follows those before it */
	*samples = plan_list(dynamics, places + (set - 1) * size, size);
	for (size_t i = 0; i < size; i++)
		samples->flips[i].new_label = (int32_t)extra;
	return 0;
}
