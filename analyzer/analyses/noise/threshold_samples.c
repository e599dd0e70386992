/* threshold_samples.c: calls examples mislabelled whose AUM is lower than that of nearly all threshold samples. */
#include "threshold_samples.h"

#include "die/memory.h"

#include <portolan/error.h>

#include <math.h>

/* Checks that the samples have one label, and that no other example has it. */
static int
threshold_check_label(const struct dynamics *dynamics, const struct flips *samples, const uint8_t *is_sample,
                      const char *path, struct portolan_error *error)
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
threshold_compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Counts the values above `value` among n ascending ones. */
static size_t
threshold_count_higher(const double *sorted, size_t n, double value)
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

int
threshold_samples_judge(const struct dynamics *dynamics, const struct flips *samples, const char *path, double *scores,
                        uint8_t *called, struct threshold_cut *cut, struct portolan_error *error)
{
	const double *aum = dynamics_measure(dynamics, MEASURE_AUM);
	CLEANUP_ARRAY uint8_t *is_sample = flips_mark(samples, dynamics);
	CLEANUP_ARRAY double *sorted = memory_array(samples->count + 1, sizeof(*sorted), "threshold samples");
	size_t n = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (!isnan(aum[samples->flips[i].row]))
			sorted[n++] = aum[samples->flips[i].row];
	if (n == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: none of the threshold samples has a margin in run '%s'", path,
		                 dynamics->info->name);
	if (threshold_check_label(dynamics, samples, is_sample, path, error) < 0)
		return PORTOLAN_E_INVALID;
	qsort(sorted, n, sizeof(*sorted), threshold_compare_values);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		size_t higher = threshold_count_higher(sorted, n, aum[row]);
		bool judged = !is_sample[row] && !isnan(aum[row]);

		scores[row] = judged ? (double)higher / (double)n : NAN;
		called[row] = judged && 100 * higher > n;
	}
	*cut = (struct threshold_cut){.aum = sorted[n - 1 - n / 100], .samples = n};
	return 0;
}
