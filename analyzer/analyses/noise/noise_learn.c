/* noise_learn.c: noise fit: fits a classifier to labels that were flipped on purpose. */
#include "noise.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "densities.h"
#include "flips.h"
#include "model.h"
#include "output/rows.h"

#include <math.h>

static void
report_tops(struct report *report, const struct noise_fit *fit)
{
	static const struct rows_column columns[] = {
	        {"fraction", ROWS_REAL},      {"examples", ROWS_WHOLE},      {"flipped", ROWS_WHOLE},
	        {"share_flipped", ROWS_REAL}, {"share_of_flips", ROWS_REAL}, {"flipped_by_confidence", ROWS_WHOLE}};
	struct rows rows;

	rows_begin(&rows, report, "top", columns, ROWS_COUNT(columns));
	for (unsigned t = 0; t < NOISE_TOPS; t++) {
		const struct noise_top *top = &fit->by_score[t];

		rows_real(&rows, top->fraction);
		rows_whole(&rows, top->examples);
		rows_whole(&rows, top->flipped);
		rows_real(&rows, (double)top->flipped / (double)top->examples);
		rows_real(&rows, (double)top->flipped / (double)fit->flips);
		rows_whole(&rows, fit->by_confidence[t].flipped);
	}
	rows_end(&rows);
}

static int
report_fit(const struct noise_request *request, const struct noise_fit *fit, uint64_t unknown,
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
	report_tops(&report, fit);
	report_end(&report);
	return report_close(&report, error);
}

/* The original run is read only for the picture. */
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
	code = dynamics_load_beside(&original, dynamics, &request->common.query, request->before, &wanted, error);
	if (code < 0)
		return code;
	code = flips_read("--flips", request->flips, &original, FLIPS_OLD, &original_flips, error);
	if (code >= 0) {
		before = (struct densities_run){&original, &original_flips};
		code = densities_draw_flips(&before, &after, &request->picture, error);
		flips_free(&original_flips);
	}
	dynamics_free(&original);
	return code;
}

/* Everything that can fail is done before the model is written. The report comes last. */
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
	code = dynamics_report(dynamics, common->strict);
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
		code = dynamics_load(&dynamics, &request->common.query, request->run, &wanted, error);
	if (code < 0)
		return code;
	code = flips_read("--flips", request->flips, &dynamics, FLIPS_NEW, &flips, error);
	if (code >= 0) {
		code = fit_run(request, &dynamics, &flips, error);
		flips_free(&flips);
	}
	dynamics_free(&dynamics);
	return code;
}
