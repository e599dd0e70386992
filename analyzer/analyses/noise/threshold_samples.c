/* threshold_samples.c: see threshold_samples.h. What is drawn depends on the ids, not on the order of recording. */
#include "threshold_samples.h"

#include "base/arrays.h"
#include "base/number.h"
#include "selection/classes.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

/* The classes named with the run, and those seen beyond. */
struct known_classes {
	size_t count;
	int64_t extra; /* one above all of them */
};

static int
count_classes(const struct dynamics *dynamics, struct known_classes *known, struct portolan_error *error)
{
	int64_t named = (int64_t)dynamics->info->label_count;
	struct classes seen;
	int code = classes_make(&seen, dynamics->gold, dynamics->order, dynamics->count, error);

	if (code < 0)
		return code;
	*known = (struct known_classes){.count = (size_t)named, .extra = named};
	for (size_t c = 0; c < seen.count; c++)
		if (seen.labels[c] >= named) {
			known->count++;
			known->extra = (int64_t)seen.labels[c] + 1;
		}
	classes_free(&seen);
	if (known->extra > INT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has the class %d, and none is left above it: number the classes from 0",
		                 dynamics->info->name, INT32_MAX);
	return 0;
}

static int
compare_places(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int
check_size(const struct dynamics *dynamics, size_t size, size_t labelled, uint64_t set, struct portolan_error *error)
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

/* `places` are positions in the order; the set's are drawn to its front. */
static int
take(const struct dynamics *dynamics, uint32_t *places, size_t size, int32_t extra, struct flips *samples,
     struct portolan_error *error)
{
	samples->flips = array_new(size, sizeof(*samples->flips), "threshold samples", error);
	if (!samples->flips)
		return PORTOLAN_E_MEMORY;
	qsort(places, size, sizeof(*places), compare_places);
	for (size_t i = 0; i < size; i++) {
		uint32_t row = dynamics->order[places[i]];

		samples->flips[i] = (struct flip){row, dynamics->gold[row], extra};
	}
	samples->count = size;
	return 0;
}

int
threshold_samples_plan(const struct dynamics *dynamics, double fraction, uint64_t set, uint64_t seed,
                       struct flips *samples, struct portolan_error *error)
{
	uint32_t *places = array_new(dynamics->count, sizeof(*places), "labelled examples", error);
	size_t labelled = 0, size = 0;
	struct random_state random;
	struct known_classes known;
	int code = places ? count_classes(dynamics, &known, error) : PORTOLAN_E_MEMORY;

	*samples = (struct flips){0};
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++)
		if (dynamics->gold[dynamics->order[i]] >= 0)
			places[labelled++] = (uint32_t)i;
	if (code >= 0) {
		size = fraction > 0 ? selection_size(fraction, dynamics->count) : labelled / (known.count + 1);
		code = check_size(dynamics, size, labelled, set, error);
	}
	if (code >= 0) {
		random_seed(&random, seed);
		random_sample(&random, places, labelled, set * size);
		code = take(dynamics, places + (set - 1) * size, size, (int32_t)known.extra, samples, error);
	}
	array_free(places);
	return code;
}

/* The label is the samples' alone. */
static int
check_label(const struct dynamics *dynamics, const struct flips *samples, const uint8_t *is_sample, const char *path,
            struct portolan_error *error)
{
	int32_t label = samples->flips[0].new_label;

	for (size_t i = 1; i < samples->count; i++)
		if (samples->flips[i].new_label != label)
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s: field new: threshold samples have one class, and these have %d and %d: is it "
			        "what portolan noise plan --method aum wrote?",
			        path, label, samples->flips[i].new_label);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		if (dynamics->gold[row] == label && !is_sample[row])
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s: field new: class %d is no extra class: other examples of run '%s' have it too",
			        path, label, dynamics->info->name);
	}
	return 0;
}

static int
compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many of the n sorted values are higher. */
static size_t
count_higher(const double *sorted, size_t n, double value)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (sorted[middle] > value)
			to = middle;
		else
			from = middle + 1;
	}
	return n - from;
}

/* The samples' AUMs, ascending: how many have one. */
static size_t
sort_samples(const double *aum, const struct flips *samples, double *sorted)
{
	size_t n = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (!isnan(aum[samples->flips[i].row]))
			sorted[n++] = aum[samples->flips[i].row];
	qsort(sorted, n, sizeof(*sorted), compare_values);
	return n;
}

int
threshold_samples_judge(const struct dynamics *dynamics, const struct flips *samples, const char *path, double *scores,
                        uint8_t *called, struct threshold_cut *cut, struct portolan_error *error)
{
	const double *aum = dynamics_measure(dynamics, MEASURE_AUM);
	uint8_t *is_sample = array_new(dynamics->ids.rows, 1, "marks", error);
	double *sorted = array_new(samples->count + 1, sizeof(*sorted), "threshold samples", error);
	int code = is_sample && sorted ? 0 : PORTOLAN_E_MEMORY;
	size_t n = 0;

	for (size_t i = 0; code >= 0 && i < samples->count; i++)
		is_sample[samples->flips[i].row] = 1;
	if (code >= 0)
		n = sort_samples(aum, samples, sorted);
	if (code >= 0 && n == 0)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s: none of the threshold samples has a margin in run '%s'", path,
		                 dynamics->info->name);
	if (code >= 0)
		code = check_label(dynamics, samples, is_sample, path, error);
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		size_t higher = count_higher(sorted, n, aum[row]);
		bool judged = !is_sample[row] && !isnan(aum[row]);

		scores[row] = judged ? (double)higher / (double)n : NAN;
		called[row] = judged && 100 * higher > n;
	}
	if (code >= 0)
		*cut = (struct threshold_cut){.aum = sorted[n - 1 - n / 100], .samples = n};
	array_free(is_sample);
	array_free(sorted);
	return code;
}
