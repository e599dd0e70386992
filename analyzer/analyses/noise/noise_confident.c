/* noise_confident.c: the action `noise confident`: ranks examples by confidence, those first whose label the rule of
 * confident learning (suspects/confident.h) calls wrong. */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "suspects/confident.h"

#include <math.h>

int
noise_action_confident(const struct noise_request *request)
{
	const struct dynamics_request wanted = {
	        .measures = CONFIDENT_MEASURES, .gold = true, .signals = CONFIDENT_SIGNALS};
	CLEANUP(confident_free) struct confident confident = {.called = NULL};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	const struct dynamics *dynamics = &scored.dynamics;
	struct noise_scored_counts counts;
	const double *confidence;

	noise_scored_load(request, &wanted, &scored);
	if (!confident_is_possible(dynamics))
		die("run '%s' was recorded without the predicted classes that confident learning needs: log "
		    "logits or probabilities",
		    dynamics->info->name);
	confident_judge(&confident, dynamics);
	if (confident.labelled == 0)
		die("run '%s' has no gold labels: log them (gold=…) to have them judged", dynamics->info->name);
	confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		scored.called[row] = confident.called[row];
		scored.scores[row] = dynamics->gold[row] < 0 ? NAN : 1 - confidence[row];
	}
	counts = noise_scored_print(request, &scored, MEASURE_CONFIDENCE);
	message_note("%s of %s examples are confidently of another class; thresholds of %s classes: %.4f to %.4f",
	             NUMBER_GROUPED(counts.called), NUMBER_GROUPED(counts.scored), NUMBER_GROUPED(confident.classes),
	             confident.least, confident.greatest);
	if (confident.open > 0)
		message_warning("not called, as the record leaves it open: %s examples%s",
		                NUMBER_GROUPED(confident.open),
		                dynamics->epoch_count > 1 ? "; a single epoch (--epochs A:A+1) leaves fewer open" : "");
	return noise_scored_end(request, &scored, &counts, "their label is not known");
}
