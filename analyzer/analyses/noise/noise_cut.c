/* noise_cut.c: noise aum and noise confident: where the cut is taken from the run itself, by a rule of a paper. */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "confident.h"
#include "threshold_samples.h"

#include <portolan/error.h>

#include <math.h>

static int
print_below(const struct noise_request *request, const struct noise_scored *scored, const struct threshold_cut *cut,
            struct portolan_error *error)
{
	struct noise_scored_counts counts;
	int code = noise_scored_print(request, scored, MEASURE_AUM, &counts, error);

	if (code < 0)
		return code;
	message_note("%s of %s examples have an aum below %.6g, the 99th percentile of %s threshold samples",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), cut->aum,
	             NUMBER_GROUPED(cut->samples));
	if (cut->samples < 100)
		message_warning("fewer than 100 threshold samples: the cut is the highest aum of one of them");
	return noise_scored_end(request, scored, &counts, "no margin was recorded for them");
}

/* The run was trained with the samples' extra class. */
static int
judge_by_samples(const struct noise_request *request, struct noise_scored *scored, const struct flips *samples,
                 struct portolan_error *error)
{
	struct threshold_cut cut;
	int code;

	if (samples->unknown > 0)
		message_warning("%s: %s ids are not in run '%s'; left out", request->threshold_samples,
		                NUMBER_GROUPED(samples->unknown), request->run);
	code = threshold_samples_judge(&scored->dynamics, samples, request->threshold_samples, scored->scores,
	                               scored->called, &cut, error);
	scored->set_aside = samples->count;
	if (code >= 0)
		code = print_below(request, scored, &cut, error);
	return code == STATUS_DONE && samples->unknown > 0 && request->common.strict ? STATUS_INCOMPLETE : code;
}

int
noise_action_aum(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_AUM), .gold = true};
	struct noise_scored scored;
	struct flips samples;
	int code = noise_scored_load(request, &wanted, &scored, error);

	if (code < 0)
		return code;
	if (!dynamics_measure(&scored.dynamics, MEASURE_AUM))
		code = dynamics_no_measure(&scored.dynamics, NULL, "aum", error);
	if (code >= 0)
		code = flips_read("--threshold-samples", request->threshold_samples, &scored.dynamics, FLIPS_NEW,
		                  &samples, error);
	if (code >= 0) {
		code = judge_by_samples(request, &scored, &samples, error);
		flips_free(&samples);
	}
	noise_scored_free(&scored);
	return code;
}

static int
print_confident(const struct noise_request *request, const struct noise_scored *scored,
                const struct confident_summary *summary, struct portolan_error *error)
{
	struct noise_scored_counts counts;
	int code = noise_scored_print(request, scored, MEASURE_CONFIDENCE, &counts, error);

	if (code < 0)
		return code;
	message_note("%s of %s examples are confidently of another class; thresholds of %s classes: %.4f to %.4f",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), NUMBER_GROUPED(summary->classes),
	             summary->least, summary->greatest);
	if (summary->open > 0)
		message_warning(
		        "not called, as the record leaves it open: %s examples%s", NUMBER_GROUPED(summary->open),
		        scored->dynamics.epoch_count > 1 ? "; a single epoch (--epochs A:A+1) leaves fewer open" : "");
	return noise_scored_end(request, scored, &counts, "their label is not known");
}

int
noise_action_confident(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true, .signals = CONFIDENT_SIGNALS};
	struct confident_summary summary;
	struct noise_scored scored;
	int code = noise_scored_load(request, &wanted, &scored, error);

	if (code < 0)
		return code;
	code = confident_judge(&scored.dynamics, scored.called, &summary, error);
	if (code >= 0) {
		const double *confidence = dynamics_measure(&scored.dynamics, MEASURE_CONFIDENCE);

		for (size_t i = 0; i < scored.dynamics.count; i++) {
			uint32_t row = scored.dynamics.order[i];

			scored.scores[row] = scored.dynamics.gold[row] < 0 ? NAN : 1 - confidence[row];
		}
		code = print_confident(request, &scored, &summary, error);
	}
	noise_scored_free(&scored);
	return code;
}
