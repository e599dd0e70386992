/* noise_learn.c: noise fit, which fits a classifier to labels that were flipped on purpose. */
#include "noise.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "densities.h"
#include "flips.h"
#include "model.h"
#include "output/table.h"

#include <math.h>

/* Reports the beginnings of both rankings. Shares are of the examples there, and of all flips. */
static void
learn_report_tops(struct report *report, const struct noise_fit *fit)
{
	double flipped[NOISE_TOPS], of_flips[NOISE_TOPS];
	const struct table_column columns[] = {{"fraction", TABLE_F64, offsetof(struct noise_top, fraction)},
	                                       {"examples", TABLE_U64, offsetof(struct noise_top, examples)},
	                                       {"flipped", TABLE_U64, offsetof(struct noise_top, flipped)},
	                                       {"share_flipped", TABLE_F64, .values = flipped},
	                                       {"share_of_flips", TABLE_F64, .values = of_flips},
	                                       {"flipped_by_confidence", TABLE_U64,
	                                        .values = &fit->by_confidence[0].flipped,
	                                        .stride = sizeof(struct noise_top)}};

	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		flipped[t] = (double)fit->by_score[t].flipped / (double)fit->by_score[t].examples;
		of_flips[t] = (double)fit->by_score[t].flipped / (double)fit->flips;
	}
	table_report(report, "top", &TABLE_OF(columns, fit->by_score, NOISE_TOPS));
}

static int
learn_report(const struct noise_request *request, const struct noise_fit *fit, uint64_t unknown,
             struct portolan_error *error)
{
	const struct noise_score *score = &fit->held_out;
	const struct logistic *logistic = &fit->model.logistic;
	struct report report;
	int code = request->common.json ? report_open(&report, NULL, 2, error) : report_open_text(&report, NULL, error);

	if (code < 0)
		return code;
	report_line(&report, "score = 1 / (1 + exp(-(%.6g * confidence %c %.6g)))", logistic->weight,
	            signbit(logistic->intercept) ? '-' : '+', fabs(logistic->intercept));
	if (logistic->weight < 0)
		report_line(&report, "\nabove 0.5 where confidence is below %.4f",
		            -logistic->intercept / logistic->weight);
	report_line(&report, "\n");
	report_begin(&report, NULL);
	report_text(&report, "run", request->run);
	report_text(&report, "flips_file", request->flips);
	report_text(&report, "model", request->common.output);
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
	return report_close(&report, error);
}

/* Draws the retrained run, and beside it the run before flipping, which is read only for this picture. */
static int
learn_draw(const struct noise_request *request, const struct dynamics *dynamics, const struct flips *flips,
           struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true};
	CLEANUP(dynamics_free) struct dynamics original = {.store_borrowed = true};
	CLEANUP(flips_free) struct flips original_flips = {.count = 0};
	const struct densities_run before = {&original, &original_flips}, after = {dynamics, flips};
	int code = 0;

	if (request->before)
		code = dynamics_load_beside(&original, dynamics, &request->common.query, request->before, &wanted,
		                            error);
	if (request->before && code >= 0)
		code = flips_read("--flips", request->flips, &original, FLIPS_OLD, &original_flips, error);
	return code < 0 ? code
	                : densities_draw_flips(request->before ? &before : NULL, &after, &request->picture, error);
}

/* Everything that can fail is done before the model is written. The report comes last. */
int
noise_action_fit(const struct noise_request *request, struct portolan_error *error)
{
	const struct dynamics_request wanted = {.measures = MEASURE_BIT(MEASURE_CONFIDENCE), .gold = true};
	const struct common_options *common = &request->common;
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	CLEANUP(flips_free) struct flips flips = {.count = 0};
	struct noise_fit fit;
	int code = request->plot ? picture_check(&request->picture, error) : 0;

	if (code >= 0)
		code = dynamics_load(&dynamics, &common->query, request->run, &wanted, error);
	if (code >= 0)
		code = flips_read("--flips", request->flips, &dynamics, FLIPS_NEW, &flips, error);
	if (code >= 0)
		code = noise_fit(&dynamics, &flips, request->seed, &fit, error);
	if (code >= 0 && request->plot)
		code = learn_draw(request, &dynamics, &flips, error);
	if (code >= 0)
		code = noise_model_write(&fit, common->output, request->run, request->flips, request->seed, error);
	if (code >= 0)
		code = learn_report(request, &fit, flips.unknown, error);
	if (code < 0)
		return code;
	if (fit.model.logistic.weight >= 0)
		message_warning("flipped examples are not less confident than clean ones: the model is of no use");
	code = dynamics_report(&dynamics, common->strict);
	return flips.unknown > 0 && common->strict ? STATUS_INCOMPLETE : code;
}
