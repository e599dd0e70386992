/*
 * noise_rank.c: the actions `noise apply` and `noise mixture`: give every example a score of suspicion between 0 and 1,
 * and call those above 0.5 mislabelled. `apply` scores by a model that `noise fit` fitted, `mixture` by two groups that
 * it finds in the values of a measure.
 */
#include "noise_scored.h"

#include "base/message.h"
#include "base/number.h"
#include "densities.h"
#include "die/die.h"
#include "die/memory.h"
#include "model.h"
#include "statistics/mixture_losses.h"

#include <progress.h>

#include <math.h>

/* Calls the examples with a score above 0.5 mislabelled, and prints those that were asked for. Returns an exit
 * status. */
static int
rank_print(const struct noise_request *request, struct noise_scored *scored, enum measure measure)
{
	struct noise_scored_counts counts;

	for (size_t i = 0; i < scored->dynamics.count; i++) {
		uint32_t row = scored->dynamics.order[i];

		scored->called[row] = scored->scores[row] > 0.5;
	}
	counts = noise_scored_print(request, scored, measure);
	message_note("%s of %s examples have a score above 0.5", NUMBER_GROUPED(counts.called),
	             NUMBER_GROUPED(counts.scored));
	return noise_scored_end(request, scored, &counts, "no margin was recorded for them");
}

int
noise_action_apply(const struct noise_request *request)
{
	struct noise_model model = noise_model_read(request->model);
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(model.measure), .trend = true};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};

	noise_scored_load(request, &wanted, &scored);
	if (model.epochs > 0 && model.epochs != scored.dynamics.epoch_count)
		message_warning("%s was fitted on the %s over %zu epochs, this is over %zu: see --epochs",
		                request->model, measure_infos[model.measure].name, model.epochs,
		                scored.dynamics.epoch_count);
	dynamics_report_variability(&scored.dynamics, wanted.measures);
	noise_scores(&model, &scored.dynamics, scored.scores);
	return rank_print(request, &scored, model.measure);
}

/* Finds two groups in n values. The search begins with a split where a classifier changes its mind: at a probability of
 * a half, or at a margin of 0. False: there are no two groups. */
static bool
rank_fit_mixture(enum noise_by by, double *values, size_t n, struct mixture *mixture)
{
	struct progress progress;
	bool fitted;

	progress_begin(&progress, "fitting two groups", 0);
	fitted = by == NOISE_BY_LOSS  ? mixture_fit_losses(values, n, mixture)
	         : by == NOISE_BY_AUM ? mixture_fit(MIXTURE_GAUSSIAN, values, n, 0, mixture)
	                              : mixture_fit(MIXTURE_BETA, values, n, 0.5, mixture);
	progress_clear(&progress);
	return fitted;
}

/* Scores each example by its probability of being in the group with the lower values, or, of losses, which are brought
 * into 0 … 1, with the higher ones; draws the groups if a picture was
 * asked for. The groups are fitted to the finite values. A margin is infinite where every other class is masked; an
 * infinite value gets the score of the outermost finite one. */
static void
rank_score_mixture(const struct noise_request *request, struct noise_scored *scored, const double *measure,
                   const char *name)
{
	const struct dynamics *dynamics = &scored->dynamics;
	CLEANUP_ARRAY double *values = memory_array(dynamics->count, sizeof(*values), "values to score by");
	double least = INFINITY, greatest = -INFINITY;
	bool of_losses = request->by == NOISE_BY_LOSS;
	struct mixture mixture;
	size_t count = 0;

	for (size_t i = 0; i < dynamics->count; i++) {
		double value = measure[dynamics->order[i]];

		if (!isfinite(value))
			continue;
		values[count++] = value;
		least = fmin(least, value);
		greatest = fmax(greatest, value);
	}
	for (size_t i = 0; of_losses && i < count; i++)
		values[i] = (values[i] - least) / (greatest - least);
	if ((of_losses && !(least < greatest)) ||
	    !rank_fit_mixture((enum noise_by)request->by, values, count, &mixture))
		die("run '%s' shows no two groups by %s: too few examples, or all alike", request->run, name);
	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];
		double value = fmin(fmax(measure[row], least), greatest);

		if (isnan(measure[row]))
			scored->scores[row] = NAN;
		else if (of_losses)
			scored->scores[row] = mixture_losses_high_share(&mixture, (value - least) / (greatest - least));
		else
			scored->scores[row] = mixture_low_share(&mixture, value);
	}
	if (request->plot)
		densities_draw_mixture(request->run,
		                       request->by == NOISE_BY_AUM ? "AUM"
		                       : of_losses                 ? "loss, from the least (0) to the greatest (1)"
		                                                   : name,
		                       values, count, &mixture, &request->picture);
	message_note("two groups by %s: %.2f%% around %.4f (s.d. %.4f), the rest around %.4f (s.d. %.4f)", name,
	             100 * mixture.low.share, mixture.low.mean, sqrt(mixture.low.variance), mixture.high.mean,
	             sqrt(mixture.high.variance));
	if (!mixture.converged && !of_losses) /* ten steps of these are what was published */
		message_warning("the two groups still moved after %d steps: they may not be there", mixture.steps);
}

int
noise_action_mixture(const struct noise_request *request)
{
	enum measure which = noise_measure(request);
	struct dynamics_request wanted = {.measures = MEASURE_BIT(which)};
	CLEANUP(noise_scored_free) struct noise_scored scored = {.set_aside = 0};
	const double *measure;

	if (request->plot)
		must(picture_check(&request->picture, &failure));
	if (request->by == NOISE_BY_LOSS) {
		wanted.measures |= MEASURE_BIT(MEASURE_TASK_LOSS);
		wanted.losses = true;
	}
	noise_scored_load(request, &wanted, &scored);
	if (scored.dynamics.info->of_losses)
		which = MEASURE_TASK_LOSS;
	measure = dynamics_measure(&scored.dynamics, which);
	if (!measure)
		must(dynamics_no_measure(&scored.dynamics, NULL, measure_infos[which].name, &failure));
	rank_score_mixture(request, &scored, measure, measure_infos[which].name);
	return rank_print(request, &scored, which);
}
