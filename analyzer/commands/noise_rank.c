/* noise_rank.c: noise apply and noise mixture: every example with its probability of being mislabelled, the most
 * suspect first. */
#include "noise.h"

#include "dynamics/arrays.h"
#include "noise/densities.h"
#include "noise/model.h"
#include "program/message.h"
#include "program/number.h"
#include "statistics/mixture.h"

#include <portolan/error.h>
#include <progress.h>

#include <math.h>
#include <stdlib.h>

/* A run, its scores by dense index, and (mixture) the values they come from, without those that are not there. */
struct scored {
	struct dynamics dynamics;
	double *scores, *values;
	size_t value_count;
	double least, greatest; /* of the values */
};

static void
scored_free(struct scored *scored)
{
	array_free(scored->scores);
	array_free(scored->values);
	dynamics_free(&scored->dynamics);
}

static int
scored_load(const struct noise_request *request, enum measure measure, struct scored *scored,
            struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(measure)};
	int code = dynamics_load(&scored->dynamics, &request->common, request->run, &wanted, error);

	if (code < 0)
		return code;
	scored->scores = array_new(scored->dynamics.ids.rows, sizeof(double), "scores", error);
	scored->values = array_new(scored->dynamics.count, sizeof(double), "values to score by", error);
	scored->value_count = 0;
	scored->least = INFINITY;
	scored->greatest = -INFINITY;
	if (scored->scores && scored->values)
		return 0;
	scored_free(scored);
	return PORTOLAN_E_MEMORY;
}

/* Prints the suspects, and says what is incomplete. */
static int
finish(const struct noise_request *request, const struct scored *scored, enum measure measure,
       struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	struct suspects suspects;
	int code = suspects_rank(&scored->dynamics, scored->scores, dynamics_measure(&scored->dynamics, measure),
	                         &request->size, &suspects, error);
	bool left_out;

	if (code < 0)
		return code;
	code = suspects_write(&suspects, &scored->dynamics, scored->scores, common->output,
	                      (enum rows_format)request->format, error);
	left_out = suspects.scored < scored->dynamics.count;
	if (code >= 0) {
		message_note("%s of %s examples have a score above 0.5", NUMBER_GROUPED(suspects.above_half),
		             NUMBER_GROUPED(suspects.scored));
		if (left_out)
			message_warning("left out, as no margin was recorded for them: %s examples",
			                NUMBER_GROUPED(scored->dynamics.count - suspects.scored));
		code = verdict_report(&scored->dynamics, common->strict);
	}
	suspects_free(&suspects);
	return code == STATUS_DONE && left_out && common->strict ? STATUS_INCOMPLETE : code;
}

int
noise_action_apply(const struct noise_request *request, struct portolan_error *error)
{
	struct noise_model model;
	struct scored scored;
	int code = noise_model_read(request->model, &model, error);

	if (code >= 0)
		code = scored_load(request, MEASURE_CONFIDENCE, &scored, error);
	if (code < 0)
		return code;
	if (model.epochs > 0 && model.epochs != scored.dynamics.epoch_count)
		message_warning("%s was fitted on the confidence over %zu epochs, this is over %zu: see --epochs",
		                request->model, model.epochs, scored.dynamics.epoch_count);
	noise_scores(&model, &scored.dynamics, scored.scores);
	code = finish(request, &scored, MEASURE_CONFIDENCE, error);
	scored_free(&scored);
	return code;
}

/* A margin is infinite where every other class is masked: no two groups are fitted to that. */
static void
gather(struct scored *scored, const double *measure)
{
	for (size_t i = 0; i < scored->dynamics.count; i++) {
		double value = measure[scored->dynamics.order[i]];

		if (!isfinite(value))
			continue;
		scored->values[scored->value_count++] = value;
		scored->least = fmin(scored->least, value);
		scored->greatest = fmax(scored->greatest, value);
	}
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

/* Where a classifier turns, the groups are split first: at half the probability, or no margin. */
static bool
fit(const struct scored *scored, enum mixture_kind kind, struct mixture *mixture)
{
	struct progress progress;
	bool fitted;

	progress_begin(&progress, "fitting two groups", 0);
	fitted = mixture_fit(kind, scored->values, scored->value_count, kind == MIXTURE_BETA ? 0.5 : 0, mixture);
	progress_clear(&progress);
	return fitted;
}

static int
score_mixture(const struct noise_request *request, struct scored *scored, struct portolan_error *error)
{
	enum mixture_kind kind = request->by_aum ? MIXTURE_GAUSSIAN : MIXTURE_BETA;
	enum measure which = request->by_aum ? MEASURE_AUM : MEASURE_CONFIDENCE;
	const double *measure = dynamics_measure(&scored->dynamics, which);
	const char *name = measure_infos[which].name;
	struct mixture mixture;

	if (!measure)
		return dynamics_no_measure(&scored->dynamics, NULL, name, error);
	gather(scored, measure);
	if (!fit(scored, kind, &mixture))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' shows no two groups by %s: too few examples, or all alike", request->run,
		                 name);
	for (size_t i = 0; i < scored->dynamics.count; i++) {
		uint32_t row = scored->dynamics.order[i];

		/* What is infinite is as sure as the outermost value that is not. */
		double value = fmin(fmax(measure[row], scored->least), scored->greatest);

		scored->scores[row] = isnan(measure[row]) ? NAN : mixture_low_probability(&mixture, value);
	}
	if (request->plot) {
		int code = densities_draw_mixture(request->run, name, scored->values, scored->value_count, &mixture,
		                                  &request->picture, error);

		if (code < 0)
			return code;
	}
	describe(&mixture, name);
	return 0;
}

int
noise_action_mixture(const struct noise_request *request, struct portolan_error *error)
{
	enum measure measure = request->by_aum ? MEASURE_AUM : MEASURE_CONFIDENCE;
	struct scored scored;
	int code = request->plot ? picture_check(&request->picture, error) : 0;

	if (code >= 0)
		code = scored_load(request, measure, &scored, error);
	if (code < 0)
		return code;
	code = score_mixture(request, &scored, error);
	if (code >= 0)
		code = finish(request, &scored, measure, error);
	scored_free(&scored);
	return code;
}
