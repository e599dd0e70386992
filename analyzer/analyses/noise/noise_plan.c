/*
 * noise_plan.c: the action `noise plan`: draws the examples whose labels the user is to change on purpose before
 * training again. Their labels are flipped to another class, or to a class of their own (threshold samples).
 *
 * Examples are drawn by their places in the order of ids. So a draw does not depend on the order of recording.
 */
#include "suspects/flips.h"
#include "noise.h"

#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "regions/classes.h"
#include "regions/regions.h"
#include "selection/manifest.h"
#include "selection/selection.h"
#include "statistics/random.h"

#define MOST_VARIABILITY 0.5 /* of numbers from 0 to 1: half of them 0, half 1 */

/* The classes of a run: 0 … named − 1, and classes beyond these that occur as labels. */
struct plan_classes {
	struct classes seen;
	uint64_t named;
	const int32_t *unnamed; /* ascending; within `seen` */
	size_t unnamed_count;
};

static void
plan_find_classes(struct plan_classes *classes, const struct dynamics *dynamics)
{
	size_t c = 0;

	must(classes_make(&classes->seen, dynamics->gold, dynamics->order, dynamics->count, &failure));
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

/* Makes a list of flips: the examples at `places` in the order of ids, by ascending id. Their new label is the old one
 * so far. */
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

/* Draws one of the classes other than `old`. */
static int32_t
plan_draw_label(struct random_state *random, const struct plan_classes *classes, int32_t old)
{
	uint64_t drawn = random_below(random, classes->named + classes->unnamed_count - 1);
	int32_t label = drawn < classes->named ? (int32_t)drawn : classes->unnamed[drawn - classes->named];

	/* The draw is among all classes but the last. If it hits the old label, the last class stands in for it. */
	if (label != old)
		return label;
	return classes->unnamed_count > 0 ? classes->unnamed[classes->unnamed_count - 1]
	                                  : (int32_t)(classes->named - 1);
}

/* Checks that `size` examples, the share `fraction` of all, can be drawn from the `easy` easy-to-learn ones. */
static void
plan_check_size(const struct dynamics *dynamics, double fraction, size_t size, size_t easy, size_t labelled)
{
	const char *name = dynamics->info->name;

	if (labelled == 0)
		die("run '%s' has no gold labels: log them (gold=…) to have some flipped", name);
	if (size == 0)
		die("%g of %zu examples is none: ask for a larger --fraction", fraction, dynamics->count);
	if (size > easy)
		die("run '%s' has %s easy-to-learn examples, and %s are to be flipped: ask for a smaller --fraction",
		    name, NUMBER_GROUPED(easy), NUMBER_GROUPED(size));
}

/*
 * Draws the share `fraction` of all observed examples (rounded half up) at random among the easy-to-learn ones whose
 * label is known, in ascending order of id. Each gets a new label, any other of the run's classes with the same chance.
 * The classes are those named with the run, and those seen. Without `cuts` the regions are the run's own defaults.
 * Needs gold, confidence and variability.
 */
static struct flips
plan_draw_flips(const struct dynamics *dynamics, const struct region_cuts *cuts, double fraction, uint64_t seed)
{
	size_t size = selection_size(fraction, dynamics->count), easy = 0, labelled = 0;
	CLEANUP_ARRAY uint32_t *places = memory_array(dynamics->count, sizeof(*places), "easy examples");
	CLEANUP_ARRAY uint8_t *regions = NULL;
	CLEANUP(plan_free_classes) struct plan_classes classes = {.named = 0};
	struct random_state random;
	struct flips flips;

	must(region_list(dynamics, cuts, &regions, &failure));
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		labelled += dynamics->gold[row] >= 0;
		if (dynamics->gold[row] >= 0 && regions[row] == REGION_EASY)
			places[easy++] = (uint32_t)i;
	}
	plan_check_size(dynamics, fraction, size, easy, labelled);
	plan_find_classes(&classes, dynamics);
	if (classes.named + classes.unnamed_count < 2)
		die("run '%s' knows a single class: there is nothing to flip to", dynamics->info->name);
	random_seed(&random, seed);
	random_sample(&random, places, easy, size);
	flips = plan_list(dynamics, places, size);
	for (size_t i = 0; i < size; i++)
		flips.flips[i].new_label = plan_draw_label(&random, &classes, flips.flips[i].old_label);
	return flips;
}

/* Checks that the labelled examples suffice for `set` disjoint sets of `size`. */
static void
plan_check_set(const struct dynamics *dynamics, size_t size, size_t labelled, uint64_t set)
{
	const char *name = dynamics->info->name;

	if (labelled == 0)
		die("run '%s' has no gold labels: log them (gold=…) to have some changed", name);
	if (size == 0)
		die("of %zu examples none would be a threshold sample: ask for a larger --fraction", labelled);
	if (set > labelled / size)
		die("run '%s' has %zu examples with a label, which is %zu sets of %zu: --set %llu is beyond", name,
		    labelled, labelled / size, size, (unsigned long long)set);
}

/*
 * Draws threshold samples: the share `fraction` of the observed examples (rounded half up) among those with a label, in
 * ascending order of id; for a fraction of 0, N / (c + 1) of the N examples with a label, rounded down. All get the
 * extra class, one above the classes named with the run and those seen. Sets 1, 2, … of one seed share no example.
 * Needs gold.
 */
static struct flips
plan_draw_samples(const struct dynamics *dynamics, double fraction, uint64_t set, uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = memory_array(dynamics->count, sizeof(*places), "labelled examples");
	CLEANUP(plan_free_classes) struct plan_classes classes = {.named = 0};
	size_t labelled = 0, size;
	struct random_state random;
	struct flips samples;
	int64_t extra;

	plan_find_classes(&classes, dynamics);
	extra = classes.unnamed_count > 0 ? (int64_t)classes.unnamed[classes.unnamed_count - 1] + 1
	                                  : (int64_t)classes.named;
	if (extra > INT32_MAX)
		die("run '%s' has the class %d, and none is left above it: number the classes from 0",
		    dynamics->info->name, INT32_MAX);
	for (size_t i = 0; i < dynamics->count; i++)
		if (dynamics->gold[dynamics->order[i]] >= 0)
			places[labelled++] = (uint32_t)i;
	size = fraction > 0 ? selection_size(fraction, dynamics->count)
	                    : labelled / (classes.named + classes.unnamed_count + 1);
	plan_check_set(dynamics, size, labelled, set);
	random_seed(&random, seed);
	random_sample(&random, places, labelled, set * size); /* set 1 has the first `size` places, set 2 the next … */
	samples = plan_list(dynamics, places + (set - 1) * size, size);
	for (size_t i = 0; i < size; i++)
		samples.flips[i].new_label = (int32_t)extra;
	return samples;
}

/* Adds the members that the manifest of a selection also has: the rule, and its parameters. */
static void
plan_describe(const struct noise_request *request, const struct flips *flips, struct report *report)
{
	report_begin(report, "rule");
	report_text(report, "by", request->method == NOISE_METHOD_AUM ? "labelled examples" : "region:easy-to-learn");
	report_text(report, "ranks", "random, xoshiro256**");
	report_end(report);
	report_begin(report, "parameters");
	if (request->method == NOISE_METHOD_AUM) {
		report_text(report, "method", "aum");
		report_whole(report, "extra_class", (uint64_t)flips->flips[0].new_label);
		report_whole(report, "set", request->set);
	}
	if (request->size.has_fraction)
		report_real(report, "fraction", request->size.fraction);
	report_whole(report, "seed", request->seed);
	if (request->has_cuts)
		manifest_add_cuts(report, &request->cuts);
}

static void
plan_write_manifest(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips)
{
	const struct common_options *common = &request->common;
	CLEANUP_ARRAY uint32_t *rows = memory_array(flips->count, sizeof(*rows), "flips");
	struct manifest manifest;
	struct report *report = &manifest.report;

	manifest_open(&manifest, "noise plan", common->output, dynamics, common->query.store);
	for (size_t i = 0; i < flips->count; i++)
		rows[i] = flips->flips[i].row;
	report_whole(report, "chosen", flips->count);
	provenance_add_classes(report, dynamics, rows, flips->count);
	plan_describe(request, flips, report);
	manifest_add_range(report, dynamics);
	report_end(report);
	manifest_close(&manifest);
}

int
noise_action_plan(const struct noise_request *request)
{
	const uint32_t regions = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY);
	const struct suspects_size *size = &request->size;
	const struct common_options *common = &request->common;
	bool samples = request->method == NOISE_METHOD_AUM, with_manifest;
	const struct dynamics_request wanted = {.measures = samples ? 0 : regions, .gold = true, .trend = true};
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	CLEANUP(flips_free) struct flips flips = {.count = 0};

	must(dynamics_load(&dynamics, &common->query, request->run, &wanted, &failure));
	flips = samples ? plan_draw_samples(&dynamics, size->has_fraction ? size->fraction : 0, request->set,
	                                    request->seed)
	                : plan_draw_flips(&dynamics, request->has_cuts ? &request->cuts : NULL, size->fraction,
	                                  request->seed);
	with_manifest = manifest_is_possible(common->output);
	flips_write(common->output, &dynamics, &flips);
	if (with_manifest)
		plan_write_manifest(request, &dynamics, &flips);
	if (!request->has_cuts || request->cuts.variability <= MOST_VARIABILITY)
		dynamics_report_variability(&dynamics, wanted.measures);
	return dynamics_report(&dynamics, common->strict);
}
