/* noise_rank.c: noise apply and noise mixture: every example with a score between 0 and 1, the most suspect first. */
#include "noise_scored.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "densities.h"
#include "model.h"
#include "statistics/mixture.h"

#include <portolan/error.h>
#include <progress.h>

#include <math.h>
#include <stdlib.h>

static int
print(const struct noise_request *request, const struct noise_scored *scored, enum measure measure,
      struct portolan_error *error)
{
	struct noise_scored_counts counts;
	int code = noise_scored_print(request, scored, measure, &counts, error);

	if (code < 0)
		return code;
	message_note("%s of %s examples have a score above 0.5", NUMBER_GROUPED(counts.called),
	             NUMBER_GROUPED(counts.scored));
	return noise_scored_end(request, scored, &counts, "no margin was recorded for them");
}

int
noise_action_apply(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE)};
	struct noise_model model;
	struct noise_scored scored;
	int code = noise_model_read(request->model, &model, error);

	if (code >= 0)
		code = noise_scored_load(request, &wanted, &scored, error);
	if (code < 0)
		return code;
	if (model.epochs > 0 && model.epochs != scored.dynamics.epoch_count)
		message_warning("%s was fitted on the confidence over %zu epochs, this is over %zu: see --epochs",
		                request->model, model.epochs, scored.dynamics.epoch_count);
	noise_scores(&model, &scored.dynamics, scored.scores);
	noise_scored_call_above_half(&scored);
	code = print(request, &scored, MEASURE_CONFIDENCE, error);
	noise_scored_free(&scored);
	return code;
}

/* The values that the groups are fitted to: those that are present. */
struct values {
	double *values;
	size_t count;
	double least, greatest;
};

/* A margin is infinite if every other class is masked. The groups are fitted without such values. */
static int
gather(const struct dynamics *dynamics, const double *measure, struct values *values, struct portolan_error *error)
{
	*values = (struct values){.least = INFINITY, .greatest = -INFINITY};
	values->values = array_new(dynamics->count, sizeof(*values->values), "values to score by", error);
	if (!values->values)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < dynamics->count; i++) {
		double value = measure[dynamics->order[i]];

		if (!isfinite(value))
			continue;
		values->values[values->count++] = value;
		values->least = fmin(values->least, value);
		values->greatest = fmax(values->greatest, value);
	}
	return 0;
}

static void
describe(const struct mixture *mixture, const char *measure)
{
	message_note("two groups by %s: %.2f%% around %.4f (s.d. %.4f), the rest around %.4f (s.d. %.4f)", measure,
	             100 * mixture->low.share, mixture->low.mean, sqrt(mixture->low.variance), mixture->high.mean,
	             sqrt(mixture->high.variance));
	if (!mixture->converged)
		message_warning("the two groups still moved after %d steps: they may not be there", mixture->steps);
}

/* The groups are first split where a classifier changes its mind: at half the probability, or at a margin of 0. */
static bool
fit(const struct values *values, enum mixture_kind kind, struct mixture *mixture)
{
	struct progress progress;
	bool fitted;

	progress_begin(&progress, "fitting two groups", 0);
	fitted = mixture_fit(kind, values->values, values->count, kind == MIXTURE_BETA ? 0.5 : 0, mixture);
	progress_clear(&progress);
	return fitted;
}

/* Scores by the groups, and draws them where that is asked for. */
static int
score_mixture(const struct noise_request *request, struct noise_scored *scored, const double *measure, const char *name,
              struct portolan_error *error)
{
	enum mixture_kind kind = request->by_aum ? MIXTURE_GAUSSIAN : MIXTURE_BETA;
	const struct dynamics *dynamics = &scored->dynamics;
	struct mixture mixture;
	struct values values;
	int code = gather(dynamics, measure, &values, error);

	if (code < 0)
		return code;
	if (!fit(&values, kind, &mixture))
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' shows no two groups by %s: too few examples, or all alike", request->run,
		                 name);
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		/* An infinite value gets the score of the outermost finite one. */
		double value = fmin(fmax(measure[row], values.least), values.greatest);

		scored->scores[row] = isnan(measure[row]) ? NAN : mixture_low_share(&mixture, value);
	}
	if (code >= 0 && request->plot)
		code = densities_draw_mixture(request->run, request->by_aum ? "AUM" : name, values.values, values.count,
		                              &mixture, &request->picture, error);
	if (code >= 0)
		describe(&mixture, name);
	array_free(values.values);
	return code;
}

int
noise_action_mixture(const struct noise_request *request, struct portolan_error *error)
{
	enum measure which = request->by_aum ? MEASURE_AUM : MEASURE_CONFIDENCE;
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(which)};
	struct noise_scored scored;
	const double *measure;
	int code = request->plot ? picture_check(&request->picture, error) : 0;

	if (code >= 0)
		code = noise_scored_load(request, &wanted, &scored, error);
	if (code < 0)
		return code;
	measure = dynamics_measure(&scored.dynamics, which);
	if (!measure)
		code = dynamics_no_measure(&scored.dynamics, NULL, measure_infos[which].name, error);
	if (code >= 0)
		code = score_mixture(request, &scored, measure, measure_infos[which].name, error);
	if (code >= 0) {
		noise_scored_call_above_half(&scored);
		code = print(request, &scored, which, error);
	}
	noise_scored_free(&scored);
	return code;
}
