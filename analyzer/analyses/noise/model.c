/*
 * model.c: fits the classifier of mislabelled examples for `noise fit`, tests it, and writes it as JSON, which `noise
 * apply` reads. The file also says where the classifier comes from and how good it was.
 *
 * With one feature, the score ranks the examples as confidence, or variability, itself does (as long as flipped examples
 * are less confident, or vary more). Fitting only adds the place of the cut. Both rankings are reported, so that users can check this.
 */
#include "model.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/content.h"
#include "output/report.h"
#include "selection/selection.h"
#include "statistics/random.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define KIND "portolan noise model"
#define VERSION 1

static const double top_fractions[NOISE_TOPS] = {0.01, 0.02};

void
noise_scores(const struct noise_model *model, const struct dynamics *dynamics, double *scores)
{
	const double *values = dynamics_measure(dynamics, model->measure);

	for (size_t i = 0; i < dynamics->count; i++)
		scores[dynamics->order[i]] = logistic_probability(&model->logistic, values[dynamics->order[i]]);
}

/* Tests the classifier on n examples, whose measure is x[]. */
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

/* Counts how many flipped examples stand among the first of a ranking of all n examples. */
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
	const double *values = dynamics_measure(run, fit->model.measure);
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
		x[2 * i] = values[flipped[i]];
		x[2 * i + 1] = values[clean[i]];
		positive[2 * i] = true;
	}
	fit->trained_on = 2 * half;
	logistic_fit(x, positive, 2 * half, &fit->model.logistic);
	fit->held_out = model_evaluate(&fit->model.logistic, x + 2 * half, positive + 2 * half, 2 * (flips - half));
}

struct noise_fit
noise_fit(const struct dynamics *retrained, enum measure measure, const struct flips *flips, uint64_t seed)
{
	struct noise_fit fit = {.model = {.measure = measure, .epochs = retrained->epoch_count},
	                        .flips = flips->count,
	                        .examples = retrained->count};
	size_t n = retrained->count;
	CLEANUP_ARRAY uint8_t *is_flipped = flips_mark(flips, retrained);
	CLEANUP_ARRAY double *scores = memory_array(retrained->ids.rows, sizeof(*scores), "scores");
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * n, sizeof(*items), "examples to rank");
	CLEANUP_ARRAY uint32_t *ranked = memory_array(n, sizeof(*ranked), "ranked examples");

	if (flips->count < 2)
		die("%zu of the flips are in run '%s': at least 2 are needed, one to train on and one to test with",
		    flips->count, retrained->info->name);
	if (n - flips->count < flips->count)
		die("run '%s' has %zu flipped examples and only %zu clean ones: as many are needed",
		    retrained->info->name, flips->count, n - flips->count);
	model_fit_halves(retrained, is_flipped, seed, &fit);
	noise_scores(&fit.model, retrained, scores);
	selection_by_values(dynamics_measure(retrained, measure), measure == MEASURE_VARIABILITY, retrained->order, n,
	                    items, ranked);
	model_count_tops(is_flipped, ranked, n, fit.by_measure);
	selection_by_values(scores, true, ranked, n, items, ranked); /* equal scores stay ordered by the measure */
	model_count_tops(is_flipped, ranked, n, fit.by_score);
	return fit;
}

void
noise_model_write(const struct noise_fit *fit, const char *path, const char *run, const char *flips_path, uint64_t seed)
{
	const struct noise_score *score = &fit->held_out;
	struct report report;

	must(report_open(&report, path, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "kind", KIND);
	report_whole(&report, "version", VERSION);
	report_text(&report, "feature", measure_infos[fit->model.measure].name);
	report_real(&report, "weight", fit->model.logistic.weight);
	report_real(&report, "intercept", fit->model.logistic.intercept);
	report_whole(&report, "epochs", fit->model.epochs);
	report_text(&report, "run", run);
	report_text(&report, "flips_file", flips_path);
	REPORT_WHOLES(&report, {"flips", fit->flips}, {"trained_on", fit->trained_on}, {"seed", seed});
	report_begin(&report, "held_out");
	report_whole(&report, "examples", score->examples);
	report_real(&report, "precision", score->precision);
	report_real(&report, "recall", score->recall);
	report_real(&report, "f1", score->f1);
	report_end(&report);
	report_text(&report, "written_by", "portolan " PORTOLAN_VERSION);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
model_wrong_field(const char *path, const char *field, const char *what)
{
	die("%s: field %s %s: is it what portolan noise fit wrote?", path, field, what);
}

static struct noise_model
model_read_fields(const json_t *json, const char *path)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	const char *feature = json_string_value(json_object_get(json, "feature"));
	const json_t *weight = json_object_get(json, "weight"), *intercept = json_object_get(json, "intercept");
	const json_t *version = json_object_get(json, "version");
	int measure = feature ? measure_find(feature) : -1;

	if (!kind || strcmp(kind, KIND) != 0)
		model_wrong_field(path, "kind", "is not '" KIND "'");
	if (!json_is_integer(version) || json_integer_value(version) > VERSION)
		die("%s: field version: written by a newer portolan", path);
	if (measure != MEASURE_CONFIDENCE && measure != MEASURE_VARIABILITY)
		model_wrong_field(path, "feature", "is neither confidence nor variability");
	if (!json_is_number(weight))
		model_wrong_field(path, "weight", "is not a number");
	if (!json_is_number(intercept))
		model_wrong_field(path, "intercept", "is not a number");
	return (struct noise_model){
	        .measure = (enum measure)measure,
	        .logistic = {json_number_value(weight), json_number_value(intercept)},
	        .epochs = (size_t)json_integer_value(json_object_get(json, "epochs")),
	};
}

struct noise_model
noise_model_read(const char *path)
{
	json_error_t problem;
	CLEANUP(content_close) struct content content = {0};
	json_auto_t *json = NULL;

	must(content_open(&content, path, &failure));
	if (content.size == 0)
		die("%s is empty", path);
	json = json_loadb(content.bytes, content.size, JSON_REJECT_DUPLICATES, &problem);
	if (!json)
		die("%s: line %d is not well-formed JSON: %s", path, problem.line, problem.text);
	return model_read_fields(json, path);
}
