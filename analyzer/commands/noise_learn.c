/* noise_learn.c: noise plan and noise fit: which labels to flip, and what the flips teach. */
#include "noise.h"

#include "dynamics/arrays.h"
#include "output/report.h"
#include "noise/densities.h"
#include "noise/flips.h"
#include "noise/model.h"
#include "program/message.h"
#include "program/number.h"
#include "selection/manifest.h"

#include <jansson.h>
#include <math.h>

static json_t *
plan_parameters(const struct noise_request *request, const struct dynamics *dynamics)
{
	json_t *p = json_pack("{s:f, s:I}", "fraction", request->size.fraction, "seed", (json_int_t)request->seed);

	if (request->has_cuts)
		json_object_set_new(p, "regions",
		                    json_pack("{s:f, s:f}", "variability", request->cuts.variability, "confidence",
		                              request->cuts.confidence));
	manifest_add_range(p, dynamics);
	return p;
}

/* As beside a selection: the flips are one, of the easy-to-learn examples. */
static int
write_plan_manifest(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
                    struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	json_t *manifest = manifest_new("noise plan", dynamics, common->store);
	uint32_t *rows = array_new(flips->count, sizeof(*rows), "flips", error);
	int failed = !manifest || !rows;

	for (size_t i = 0; rows && i < flips->count; i++)
		rows[i] = flips->flips[i].row;
	if (!failed) {
		failed |= json_object_set_new(manifest, "chosen", json_integer((json_int_t)flips->count)) < 0;
		failed |= json_object_set_new(manifest, "classes", manifest_classes(dynamics, rows, flips->count)) < 0;
		failed |= json_object_set_new(manifest, "rule",
		                              json_pack("{s:s, s:s}", "by", "region:easy-to-learn", "ranks",
		                                        "random, xoshiro256**")) < 0;
		failed |= json_object_set_new(manifest, "parameters", plan_parameters(request, dynamics)) < 0;
	}
	array_free(rows);
	if (failed) {
		json_decref(manifest);
		manifest = NULL;
	}
	return manifest_write(manifest, common->output, error);
}

/* The flips, and beside their file how they were drawn. */
static int
write_plan(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
           struct portolan_error *error)
{
	const char *path = request->common.output;
	bool with_manifest = manifest_is_possible(path);
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	flips_write(&output, dynamics, flips);
	code = output_finish(&output, error);
	return code >= 0 && with_manifest ? write_plan_manifest(request, dynamics, flips, error) : code;
}

int
noise_action_plan(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY), .gold = true};
	const struct common_options *common = &request->common;
	struct dynamics dynamics;
	struct flips flips;
	int code = dynamics_load(&dynamics, common, request->run, &wanted, error);

	if (code < 0)
		return code;
	code = flips_plan(&dynamics, request->has_cuts ? &request->cuts : NULL, request->size.fraction, request->seed,
	                  &flips, error);
	if (code >= 0) {
		code = write_plan(request, &dynamics, &flips, error);
		flips_free(&flips);
	}
	if (code >= 0) {
		verdict_report_variability(&dynamics, wanted.measures);
		code = verdict_report(&dynamics, common->strict);
	}
	dynamics_free(&dynamics);
	return code;
}

static json_t *
tops_json(const struct noise_fit *fit)
{
	json_t *list = json_array();

	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		const struct noise_top *top = &fit->by_score[t], *plain = &fit->by_confidence[t];

		json_array_append_new(list, json_pack("{s:f, s:I, s:I, s:o, s:f, s:I}", "fraction", top->fraction,
		                                      "examples", (json_int_t)top->examples, "flipped",
		                                      (json_int_t)top->flipped, "share_flipped",
		                                      report_number((double)top->flipped / (double)top->examples),
		                                      "share_of_flips", (double)top->flipped / (double)fit->flips,
		                                      "flipped_by_confidence", (json_int_t)plain->flipped));
	}
	return list;
}

static json_t *
fit_json(const struct noise_request *request, const struct noise_fit *fit, uint64_t unknown)
{
	const struct noise_score *score = &fit->held_out;

	return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:I, s:{s:I, s:I, s:I, s:I, s:o, s:o, s:o}, s:o}",
	                 "run", request->run, "flips_file", report_text(request->flips), "model",
	                 report_text(request->common.output), "examples", (json_int_t)fit->examples, "flips",
	                 (json_int_t)fit->flips, "unknown", (json_int_t)unknown, "weight", fit->model.logistic.weight,
	                 "intercept", fit->model.logistic.intercept, "trained_on", (json_int_t)fit->trained_on,
	                 "held_out", "examples", (json_int_t)score->examples, "flipped", (json_int_t)score->flipped,
	                 "called", (json_int_t)score->called, "right", (json_int_t)score->right, "precision",
	                 report_number(score->precision), "recall", report_number(score->recall), "f1",
	                 report_number(score->f1), "top", tops_json(fit));
}

static void
write_text(struct output *output, const struct noise_request *request, const struct noise_fit *fit)
{
	const struct noise_score *score = &fit->held_out;
	const struct logistic *logistic = &fit->model.logistic;

	output_printf(output, "%s: %s examples, %s of them with a flipped label\n", request->run,
	              NUMBER_GROUPED(fit->examples), NUMBER_GROUPED(fit->flips));
	output_printf(output, "  model      1 / (1 + exp(-(%.6g * confidence %+.6g)))", logistic->weight,
	              logistic->intercept);
	if (logistic->weight < 0)
		output_printf(output, ": above 0.5 where confidence is below %.4f",
		              -logistic->intercept / logistic->weight);
	output_printf(output, "\n  trained    on %s examples, half of them flipped\n", NUMBER_GROUPED(fit->trained_on));
	output_printf(output, "  held out   %s examples, half of them flipped: ", NUMBER_GROUPED(score->examples));
	if (isfinite(score->precision))
		output_printf(output, "precision %.4f, recall %.4f, F1 %.4f\n", score->precision, score->recall,
		              score->f1);
	else
		output_text(output, "none is called flipped; recall 0, F1 0\n");
	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		const struct noise_top *top = &fit->by_score[t];

		output_printf(
		        output,
		        "  top %.0f%%     %s suspects: %s flipped (%.1f%% of these, %.1f%% of all flips); by confidence alone %s\n",
		        100 * top->fraction, NUMBER_GROUPED(top->examples), NUMBER_GROUPED(top->flipped),
		        top->examples ? 100 * (double)top->flipped / (double)top->examples : 0,
		        100 * (double)top->flipped / (double)fit->flips, NUMBER_GROUPED(fit->by_confidence[t].flipped));
	}
}

static int
report_fit(const struct noise_request *request, const struct noise_fit *fit, uint64_t unknown,
           struct portolan_error *error)
{
	struct output output;
	int code;

	if (request->common.json)
		return report_print(NULL, fit_json(request, fit, unknown), 2, error);
	code = output_open(&output, NULL, error);
	if (code < 0)
		return code;
	write_text(&output, request, fit);
	return output_finish(&output, error);
}

/* The original run is read for the picture alone. */
static int
draw(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
     struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true};
	struct densities_run after = {dynamics, flips}, before;
	struct dynamics original;
	struct flips original_flips;
	int code;

	if (!request->before)
		return densities_draw_flips(NULL, &after, &request->picture, error);
	code = dynamics_load_beside(&original, dynamics, &request->common, request->before, &wanted, error);
	if (code < 0)
		return code;
	code = flips_read(request->flips, &original, FLIPS_OLD, &original_flips, error);
	if (code >= 0) {
		before = (struct densities_run){&original, &original_flips};
		code = densities_draw_flips(&before, &after, &request->picture, error);
		flips_free(&original_flips);
	}
	dynamics_free(&original);
	return code;
}

/* Everything that can fail comes before the model is written; the report last. */
static int
fit_run(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
        struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	struct noise_fit fit;
	int code;

	if (flips->unknown > 0)
		message_warning("%s: %s ids are not in run '%s'; left out", request->flips,
		                NUMBER_GROUPED(flips->unknown), request->run);
	code = noise_fit(dynamics, flips, request->seed, &fit, error);
	if (code >= 0 && request->plot)
		code = draw(request, dynamics, flips, error);
	if (code >= 0)
		code = noise_model_write(&fit, common->output, request->run, request->flips, request->seed, error);
	if (code >= 0)
		code = report_fit(request, &fit, flips->unknown, error);
	if (code < 0)
		return code;
	if (fit.model.logistic.weight >= 0)
		message_warning("flipped examples are not less confident than clean ones: the model is of no use");
	code = verdict_report(dynamics, common->strict);
	return flips->unknown > 0 && common->strict ? STATUS_INCOMPLETE : code;
}

int
noise_action_fit(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true};
	struct dynamics dynamics;
	struct flips flips;
	int code = request->plot ? picture_check(&request->picture, error) : 0;

	if (code >= 0)
		code = dynamics_load(&dynamics, &request->common, request->run, &wanted, error);
	if (code < 0)
		return code;
	code = flips_read(request->flips, &dynamics, FLIPS_NEW, &flips, error);
	if (code >= 0) {
		code = fit_run(request, &dynamics, &flips, error);
		flips_free(&flips);
	}
	dynamics_free(&dynamics);
	return code;
}
