/*
 * noise_aum.c: the action `noise aum`: calls those examples mislabelled whose margin (AUM) is as low as that of wrong
 * labels. How low that is, the run shows by its threshold samples: examples that were given, on purpose, a class of
 * their own.
 *
 * Source: Pleiss et al. 2020, "Identifying mislabeled data using the area under the margin ranking", section 3.2: an
 * example with a lower AUM than the 99th percentile of the samples is called mislabelled. The action plan draws the
 * samples.
 */
#include "suspects/flips.h"
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"

#include <math.h>

/* Checks that all samples have the same label, and that no other example has it. */
static void
aum_check_label(const struct dynamics *dynamics, const struct flips *samples, const uint8_t *is_sample,
                const char *path)
{
	int32_t label = samples->flips[0].new_label;

	for (size_t i = 1; i < samples->count; i++)
		if (samples->flips[i].new_label != label)
			die("%s: field new: threshold samples have one class, and these have %d and %d: is it "
			    "what portolan noise plan --method aum wrote?",
			    path, label, samples->flips[i].new_label);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		if (dynamics->gold[row] == label && !is_sample[row])
			die("%s: field new: class %d is no extra class: other examples of run '%s' have it too", path,
			    label, dynamics->info->name);
	}
}

static int
aum_compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Counts how many of n ascending values are above `value`. */
static size_t
aum_count_higher(const double *sorted, size_t n, double value)
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

struct aum_cut {
	double aum;     /* the 99th percentile of the samples' AUMs: the least of the ⌊n/100⌋ + 1 highest */
	size_t samples; /* n: how many samples have an AUM */
};

/* Scores each example by the share of the samples that have a higher AUM; a sample, and an example without AUM, gets no
 * score. Calls the examples for which that share is more than 1%, which are those with an AUM below the cut. `path` names
 * the samples in messages. */
static struct aum_cut
aum_judge(struct noise_scored *scored, const struct flips *samples, const char *path)
{
	const struct dynamics *dynamics = &scored->dynamics;
	const double *aum = dynamics_measure(dynamics, MEASURE_AUM);
	CLEANUP_ARRAY uint8_t *is_sample = flips_mark(samples, dynamics);
	CLEANUP_ARRAY double *sorted = memory_array(samples->count + 1, sizeof(*sorted), "threshold samples");
	size_t n = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (!isnan(aum[samples->flips[i].row]))
			sorted[n++] = aum[samples->flips[i].row];
	if (n == 0)
		die("%s: none of the threshold samples has a margin in run '%s'", path, dynamics->info->name);
	aum_check_label(dynamics, samples, is_sample, path);
	qsort(sorted, n, sizeof(*sorted), aum_compare_values);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		size_t higher = aum_count_higher(sorted, n, aum[row]);
		bool judged = !is_sample[row] && !isnan(aum[row]);

		scored->scores[row] = judged ? (double)higher / (double)n : NAN;
		scored->called[row] = judged && 100 * higher > n;
	}
	return (struct aum_cut){.aum = sorted[n - 1 - n / 100], .samples = n};
}

int
noise_action_aum(const struct noise_request *request)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_AUM), .gold = true};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	CLEANUP(flips_free) struct flips samples = {.count = 0};
	struct noise_scored_counts counts;
	struct aum_cut cut;
	int status;

	noise_scored_load(request, &wanted, &scored);
	if (!dynamics_measure(&scored.dynamics, MEASURE_AUM))
		must(dynamics_no_measure(&scored.dynamics, NULL, "aum", &failure));
	samples = flips_read("--threshold-samples", request->threshold_samples, &scored.dynamics, FLIPS_NEW);
	cut = aum_judge(&scored, &samples, request->threshold_samples);
	scored.set_aside = samples.count;
	counts = noise_scored_print(request, &scored, MEASURE_AUM);
	message_note("%s of %s examples have an aum below %.6g, the 99th percentile of %s threshold samples",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), cut.aum,
	             NUMBER_GROUPED(cut.samples));
	if (cut.samples < 100)
		message_warning("fewer than 100 threshold samples: the cut is the highest aum of one of them");
	status = noise_scored_end(request, &scored, &counts, "no margin was recorded for them");
	return status == STATUS_DONE && samples.unknown > 0 && request->common.strict ? STATUS_INCOMPLETE : status;
}
