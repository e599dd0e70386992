/*
 * model.c: fits the classifier of mislabelled examples, and judges it.
 *
 * With one feature, the score ranks the examples as confidence itself does (as long as flipped examples are less
 * confident). Fitting only adds the place of the cut. Both rankings are reported, so that users can check this.
 */
#include "model.h"

#include "die/memory.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>

static const double top_fractions[NOISE_TOPS] = {0.01, 0.02};

void
noise_scores(const struct noise_model *model, const struct dynamics *dynamics, double *scores)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);

	for (size_t i = 0; i < dynamics->count; i++)
		scores[dynamics->order[i]] = logistic_probability(&model->logistic, confidence[dynamics->order[i]]);
}

/* Scores n examples whose confidence is x[]. */
static struct noise_score
model_evaluate(const struct logistic *logistic, const double *x, const bool *is_flipped, size_t n)
{
	struct noise_score score = {.examples = n};

	for (size_t i = 0; i < n; i++) {
		bool called = logistic_probability(logistic, x[i]) > 0.5;

		score.flipped += is_flipped[i];
		score.called += called;
		score.right += called && is_flipped[i];
	}
	score.precision = score.called ? (double)score.right / (double)score.called : NAN;
	score.recall = (double)score.right / (double)score.flipped;
	score.f1 = 2 * (double)score.right / (double)(score.called + score.flipped);
	return score;
}

/* Counts the flipped examples at the beginning of a ranking of all n examples. */
static void
model_count_tops(const uint8_t *is_flipped, const uint32_t *ranked, size_t n, struct noise_top tops[NOISE_TOPS])
{
	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		size_t size = selection_size(top_fractions[t], n);

		tops[t] = (struct noise_top){.fraction = top_fractions[t], .examples = size};
		for (size_t i = 0; i < size; i++)
			tops[t].flipped += is_flipped[ranked[i]];
	}
}

/* Fits the model to the first half of the flipped and of as many clean examples, in random order, and evaluates it on
 * the second. */
static void
model_fit_halves(const struct dynamics *run, const uint8_t *is_flipped, uint64_t seed, struct noise_fit *fit)
{
	const double *confidence = dynamics_measure(run, MEASURE_CONFIDENCE);
	size_t flips = fit->flips, flipped_count = 0, clean_count = 0, half = (flips + 1) / 2;
	CLEANUP_ARRAY uint32_t *flipped = memory_array(flips, sizeof(*flipped), "flipped examples");
	CLEANUP_ARRAY uint32_t *clean = memory_array(run->count, sizeof(*clean), "clean examples");
	CLEANUP_ARRAY double *x = memory_array(2 * flips, sizeof(*x), "values to fit on");
	CLEANUP_ARRAY bool *positive = memory_array(2 * flips, sizeof(*positive), "marks");
	struct random_state random;

	for (size_t i = 0; i < run->count; i++) { /* by ascending id, whatever the order in the file */
		uint32_t row = run->order[i];

		*(is_flipped[row] ? &flipped[flipped_count++] : &clean[clean_count++]) = row;
	}
	random_seed(&random, seed);
	random_sample(&random, flipped, flips, flips);
	random_sample(&random, clean, clean_count, flips);
	for (size_t i = 0; i < flips; i++) {
		x[2 * i] = confidence[flipped[i]];
		x[2 * i + 1] = confidence[clean[i]];
		positive[2 * i] = true;
	}
	fit->trained_on = 2 * half;
	logistic_fit(x, positive, 2 * half, &fit->model.logistic);
	fit->held_out = model_evaluate(&fit->model.logistic, x + 2 * half, positive + 2 * half, 2 * (flips - half));
}

int
noise_fit(const struct dynamics *retrained, const struct flips *flips, uint64_t seed, struct noise_fit *fit,
          struct portolan_error *error)
{
	const double *confidence = dynamics_measure(retrained, MEASURE_CONFIDENCE);
	size_t n = retrained->count;
	CLEANUP_ARRAY uint8_t *is_flipped = flips_mark(flips, retrained);
	CLEANUP_ARRAY double *scores = memory_array(retrained->ids.rows, sizeof(*scores), "scores");
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * n, sizeof(*items), "examples to rank");
	CLEANUP_ARRAY uint32_t *ranked = memory_array(n, sizeof(*ranked), "ranked examples");

	if (flips->count < 2)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%zu of the flips are in run '%s': at least 2 are needed, one to train on and one to test with",
		        flips->count, retrained->info->name);
	if (n - flips->count < flips->count)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has %zu flipped examples and only %zu clean ones: as many are needed",
		                 retrained->info->name, flips->count, n - flips->count);
	*fit = (struct noise_fit){.model.epochs = retrained->epoch_count, .flips = flips->count, .examples = n};
	model_fit_halves(retrained, is_flipped, seed, fit);
	noise_scores(&fit->model, retrained, scores);
	selection_by_values(confidence, false, retrained->order, n, items, ranked);
	model_count_tops(is_flipped, ranked, n, fit->by_confidence);
	selection_by_values(scores, true, ranked, n, items, ranked); /* of equal scores, confidence decides */
	model_count_tops(is_flipped, ranked, n, fit->by_score);
	return 0;
}
