/* noise_cut.c: noise aum and noise confident, which take their cut from the run itself, by a rule of a paper. */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "confident.h"
#include "die/memory.h"
#include "threshold_samples.h"

#include <math.h>

int
noise_action_aum(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_AUM), .gold = true};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	CLEANUP(flips_free) struct flips samples = {.count = 0};
	struct noise_scored_counts counts;
	struct threshold_cut cut;
	int code = noise_scored_load(request, &wanted, &scored, error);

	if (code < 0)
		return code;
	if (!dynamics_measure(&scored.dynamics, MEASURE_AUM))
		return dynamics_no_measure(&scored.dynamics, NULL, "aum", error);
	code = flips_read("--threshold-samples", request->threshold_samples, &scored.dynamics, FLIPS_NEW, &samples,
	                  error);
	if (code >= 0)
		code = threshold_samples_judge(&scored.dynamics, &samples, request->threshold_samples, scored.scores,
		                               scored.called, &cut, error);
	scored.set_aside = samples.count;
	if (code >= 0)
		code = noise_scored_print(request, &scored, MEASURE_AUM, &counts, error);
	if (code < 0)
		return code;
	message_note("%s of %s examples have an aum below %.6g, the 99th percentile of %s threshold samples",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), cut.aum,
	             NUMBER_GROUPED(cut.samples));
	if (cut.samples < 100)
		message_warning("fewer than 100 threshold samples: the cut is the highest aum of one of them");
	code = noise_scored_end(request, &scored, &counts, "no margin was recorded for them");
	return code == STATUS_DONE && samples.unknown > 0 && request->common.strict ? STATUS_INCOMPLETE : code;
}

int
noise_action_confident(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true, .signals = CONFIDENT_SIGNALS};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	const struct dynamics *dynamics = &scored.dynamics;
	struct noise_scored_counts counts;
	struct confident_summary summary;
	const double *confidence;
	int code = noise_scored_load(request, &wanted, &scored, error);

	if (code >= 0)
		code = confident_judge(dynamics, scored.called, &summary, error);
	if (code < 0)
		return code;
	confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		scored.scores[row] = dynamics->gold[row] < 0 ? NAN : 1 - confidence[row];
	}
	code = noise_scored_print(request, &scored, MEASURE_CONFIDENCE, &counts, error);
	if (code < 0)
		return code;
	message_note("%s of %s examples are confidently of another class; thresholds of %s classes: %.4f to %.4f",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), NUMBER_GROUPED(summary.classes),
	             summary.least, summary.greatest);
	if (summary.open > 0)
		message_warning("not called, as the record leaves it open: %s examples%s", NUMBER_GROUPED(summary.open),
		                dynamics->epoch_count > 1 ? "; a single epoch (--epochs A:A+1) leaves fewer open" : "");
	return noise_scored_end(request, &scored, &counts, "their label is not known");
}
