/*
 * model.c: fitting the classifier and judging it; see model.h.
 *
 * With one feature, the score ranks the examples as confidence itself does (as long as flipped ones are less
 * confident). Fitting only adds the place of the cut. Both rankings are reported, so that users can check this.
 */
#include "model.h"

#include "base/arrays.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double top_fractions[NOISE_TOPS] = {0.01, 0.02};

void
noise_scores(const struct noise_model *model, const struct dynamics *dynamics, double *scores)
{
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);

	for (size_t i = 0; i < dynamics->count; i++)
		scores[dynamics->order[i]] = logistic_probability(&model->logistic, confidence[dynamics->order[i]]);
}

/* The working memory; everything is by dense index except the lists. */
struct work {
	uint8_t *is_flipped;
	uint32_t *flipped, *clean; /* dense indices */
	uint32_t *ranked;
	struct sort_item *items;
	double *x, *scores;
	bool *positive;
	size_t clean_count;
};

static void
work_free(struct work *work)
{
	array_free(work->is_flipped);
	array_free(work->flipped);
	array_free(work->clean);
	array_free(work->ranked);
	array_free(work->items);
	array_free(work->x);
	array_free(work->scores);
	array_free(work->positive);
}

static int
work_init(struct work *work, const struct dynamics *run, const struct flips *flips, struct portolan_error *error)
{
	size_t n = run->count;

	*work = (struct work){
	        .is_flipped = array_new(run->ids.rows, 1, "marks", error),
	        .flipped = array_new(flips->count, sizeof(uint32_t), "flipped examples", error),
	        .clean = array_new(n, sizeof(uint32_t), "clean examples", error),
	        .ranked = array_new(n, sizeof(uint32_t), "ranked examples", error),
	        .items = array_new(2 * n, sizeof(*work->items), "examples to rank", error),
	        .x = array_new(2 * flips->count, sizeof(double), "values to fit on", error),
	        .scores = array_new(run->ids.rows, sizeof(double), "scores", error),
	        .positive = array_new(2 * flips->count, sizeof(bool), "marks", error),
	};
	if (!work->is_flipped || !work->flipped || !work->clean || !work->ranked || !work->items || !work->x ||
	    !work->scores || !work->positive) {
		work_free(work);
		return PORTOLAN_E_MEMORY;
	}
	for (size_t i = 0; i < flips->count; i++)
		work->is_flipped[flips->flips[i].row] = 1;
	for (size_t i = 0, f = 0; i < n; i++) { /* both by ascending id, whatever the order in the file */
		if (work->is_flipped[run->order[i]])
			work->flipped[f++] = run->order[i];
		else
			work->clean[work->clean_count++] = run->order[i];
	}
	return 0;
}

/* Puts confidence and kind of flipped[from … to) and clean[from … to) one after the other. */
static size_t
gather(const struct work *work, const double *confidence, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		work->x[n] = confidence[work->flipped[i]];
		work->positive[n++] = true;
		work->x[n] = confidence[work->clean[i]];
		work->positive[n++] = false;
	}
	return n;
}

static struct noise_score
evaluate(const struct work *work, size_t n, const struct logistic *logistic)
{
	struct noise_score score = {.examples = n};

	for (size_t i = 0; i < n; i++) {
		bool called = logistic_probability(logistic, work->x[i]) > 0.5;

		score.flipped += work->positive[i];
		score.called += called;
		score.right += called && work->positive[i];
	}
	score.precision = score.called ? (double)score.right / (double)score.called : NAN;
	score.recall = (double)score.right / (double)score.flipped;
	score.f1 = 2 * (double)score.right / (double)(score.called + score.flipped);
	return score;
}

/* The first examples of the ranking. */
static void
count_tops(const struct work *work, const struct dynamics *run, struct noise_top tops[NOISE_TOPS])
{
	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		size_t size = selection_size(top_fractions[t], run->count);

		tops[t] = (struct noise_top){.fraction = top_fractions[t], .examples = size};
		for (size_t i = 0; i < size; i++)
			tops[t].flipped += work->is_flipped[work->ranked[i]];
	}
}

static int
check_counts(const struct dynamics *run, const struct flips *flips, struct portolan_error *error)
{
	if (flips->count < 2)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%zu of the flips are in run '%s': at least 2 are needed, one to train on and one to test with",
		        flips->count, run->info->name);
	if (run->count - flips->count < flips->count)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' has %zu flipped examples and only %zu clean ones: as many are needed",
		                 run->info->name, flips->count, run->count - flips->count);
	return 0;
}

int
noise_fit(const struct dynamics *retrained, const struct flips *flips, uint64_t seed, struct noise_fit *fit,
          struct portolan_error *error)
{
	const double *confidence = dynamics_measure(retrained, MEASURE_CONFIDENCE);
	size_t half = (flips->count + 1) / 2, n;
	struct random_state random;
	struct work work;

	if (check_counts(retrained, flips, error) < 0)
		return PORTOLAN_E_INVALID;
	if (work_init(&work, retrained, flips, error) < 0)
		return PORTOLAN_E_MEMORY;
	*fit = (struct noise_fit){
	        .model.epochs = retrained->epoch_count, .flips = flips->count, .examples = retrained->count};
	random_seed(&random, seed);
	random_sample(&random, work.flipped, flips->count, flips->count);
	random_sample(&random, work.clean, work.clean_count, flips->count);
	n = gather(&work, confidence, 0, half);
	logistic_fit(work.x, work.positive, n, &fit->model.logistic);
	fit->trained_on = n;
	n = gather(&work, confidence, half, flips->count);
	fit->held_out = evaluate(&work, n, &fit->model.logistic);
	noise_scores(&fit->model, retrained, work.scores);
	selection_by_values(confidence, false, retrained->order, retrained->count, work.items, work.ranked);
	count_tops(&work, retrained, fit->by_confidence);
	selection_by_values(work.scores, true, work.ranked, retrained->count, work.items, work.ranked); /* stable */
	count_tops(&work, retrained, fit->by_score);
	work_free(&work);
	return 0;
}
