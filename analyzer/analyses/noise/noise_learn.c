/* noise_learn.c: the action `noise fit`: fits a classifier of mislabelled examples to a run with labels that were
 * flipped on purpose, and reports how good it is. */
#include "noise.h"

#include "base/message.h"
#include "densities.h"
#include "die/die.h"
#include "die/memory.h"
#include "model.h"
#include "output/table.h"

#include <math.h>

/* Reports how many flipped examples stand among the first of both rankings (by score, by the measure): as a share of
 * these first ones, and as a share of all flips. */
static void
learn_report_tops(struct report *report, const struct noise_fit *fit)
{
	double flipped[NOISE_TOPS], of_flips[NOISE_TOPS];
	const struct table_column columns[] = {
	        {"fraction", TABLE_F64, offsetof(struct noise_top, fraction)},
	        {"examples", TABLE_U64, offsetof(struct noise_top, examples)},
	        {"flipped", TABLE_U64, offsetof(struct noise_top, flipped)},
	        {"share_flipped", TABLE_F64, .values = flipped},
	        {"share_of_flips", TABLE_F64, .values = of_flips},
	        {fit->model.measure == MEASURE_VARIABILITY ? "flipped_by_variability" : "flipped_by_confidence",
	         TABLE_U64, .values = &fit->by_measure[0].flipped, .stride = sizeof(struct noise_top)}};

	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		flipped[t] = (double)fit->by_score[t].flipped / (double)fit->by_score[t].examples;
		of_flips[t] = (double)fit->by_score[t].flipped / (double)fit->flips;
	}
	table_report(report, "top", &TABLE_OF(columns, fit->by_score, NOISE_TOPS));
}

static void
learn_report(const struct noise_request *request, const struct noise_fit *fit, uint64_t unknown)
{
	const struct noise_score *score = &fit->held_out;
	const struct logistic *logistic = &fit->model.logistic;
	const char *name = measure_infos[fit->model.measure].name;
	struct report report;

	must(request->common.json ? report_open(&report, NULL, 2, &failure)
	                          : report_open_text(&report, NULL, &failure));
	report_line(&report, "score = 1 / (1 + exp(-(%.6g * %s %c %.6g)))", logistic->weight, name,
	            signbit(logistic->intercept) ? '-' : '+', fabs(logistic->intercept));
	if (logistic->weight != 0)
		report_line(&report, "\nabove 0.5 where %s is %s %.4f", name, logistic->weight < 0 ? "below" : "above",
		            -logistic->intercept / logistic->weight);
	report_line(&report, "\n");
	report_begin(&report, NULL);
	report_text(&report, "run", request->run);
	report_text(&report, "flips_file", request->flips);
	report_text(&report, "model", request->common.output);
	report_text(&report, "by", name);
	REPORT_WHOLES(&report, {"examples", fit->examples}, {"flips", fit->flips}, {"unknown", unknown});
	report_real(&report, "weight", logistic->weight);
	report_real(&report, "intercept", logistic->intercept);
	report_whole(&report, "trained_on", fit->trained_on);
	report_begin(&report, "held_out");
	REPORT_WHOLES(&report, {"examples", score->examples}, {"flipped", score->flipped}, {"called", score->called},
	              {"right", score->right});
	report_real(&report, "precision", score->precision);
	report_real(&report, "recall", score->recall);
	report_real(&report, "f1", score->f1);
	report_end(&report);
	learn_report_tops(&report, fit);
	report_end(&report);
	must(report_close(&report, &failure));
}

/* Draws the retrained run, and beside it the run before flipping, which is read only for this picture. */
static void
learn_draw(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips)
{
	const struct dynamics_request wanted = {.measures = DENSITIES_MEASURES, .gold = true};
	CLEANUP(dynamics_free) struct dynamics original = {.store_borrowed = true};
	CLEANUP(flips_free) struct flips original_flips = {.count = 0};
	const struct densities_run before = {&original, &original_flips}, after = {dynamics, flips};

	if (request->before) {
		must(dynamics_load_beside(&original, dynamics, &request->common.query, request->before, &wanted,
		                          &failure));
		original_flips = flips_read("--flips", request->flips, &original, FLIPS_OLD);
	}
	densities_draw_flips(request->before ? &before : NULL, &after, &request->picture);
}

/* Fits, reports and draws. The model is written after everything else that can fail, except the report. */
int
noise_action_fit(const struct noise_request *request)
{
	enum measure measure = noise_measure(request);
	const struct dynamics_request wanted = {.measures =
	                                                MEASURE_BIT(measure) | (request->plot ? DENSITIES_MEASURES : 0),
	                                        .gold = true,
	                                        .trend = true};
	const struct common_options *common = &request->common;
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	CLEANUP(flips_free) struct flips flips = {.count = 0};
	struct noise_fit fit;
	int status;

	if (request->plot)
		must(picture_check(&request->picture, &failure));
	must(dynamics_load(&dynamics, &common->query, request->run, &wanted, &failure));
	flips = flips_read("--flips", request->flips, &dynamics, FLIPS_NEW);
	fit = noise_fit(&dynamics, measure, &flips, request->seed);
	if (request->plot)
		learn_draw(request, &dynamics, &flips);
	noise_model_write(&fit, common->output, request->run, request->flips, request->seed);
	learn_report(request, &fit, flips.unknown);
	dynamics_report_variability(&dynamics, MEASURE_BIT(measure));
	if (measure == MEASURE_CONFIDENCE && fit.model.logistic.weight >= 0)
		message_warning("flipped examples are not less confident than clean ones: the model is of no use");
	if (measure == MEASURE_VARIABILITY && fit.model.logistic.weight <= 0)
		message_warning("flipped examples do not vary more than clean ones: the model is of no use");
	status = dynamics_report(&dynamics, common->strict);
	return flips.unknown > 0 && common->strict ? STATUS_INCOMPLETE : status;
}
