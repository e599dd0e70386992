/* model_file.c: writes the classifier as JSON, with its origin and how good it was, and reads it again. */
#include "model.h"

#include "files/content.h"
#include "output/output.h"
#include "base/cleanup.h"
#include "output/report.h"

#include <portolan/error.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND "portolan noise model"
#define VERSION 1

int
noise_model_write(const struct noise_fit *fit, const char *path, const char *run, const char *flips_path, uint64_t seed,
                  struct portolan_error *error)
{
	const struct noise_score *score = &fit->held_out;
	struct report report;
	int code = report_open(&report, path, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	report_text(&report, "kind", KIND);
	report_whole(&report, "version", VERSION);
	report_text(&report, "feature", "confidence");
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
	return report_close(&report, error);
}

static int
model_wrong_field(const char *path, const char *field, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s: field %s %s: is it what portolan noise fit wrote?", path,
	                 field, what);
}

static int
model_read_fields(const json_t *json, const char *path, struct noise_model *model, struct portolan_error *error)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	const char *feature = json_string_value(json_object_get(json, "feature"));
	const json_t *weight = json_object_get(json, "weight"), *intercept = json_object_get(json, "intercept");
	const json_t *version = json_object_get(json, "version");

	if (!kind || strcmp(kind, KIND) != 0)
		return model_wrong_field(path, "kind", "is not '" KIND "'", error);
	if (!json_is_integer(version) || json_integer_value(version) > VERSION)
		return error_set(error, PORTOLAN_E_INVALID, "%s: field version: written by a newer portolan", path);
	if (!feature || strcmp(feature, "confidence") != 0)
		return model_wrong_field(path, "feature", "is not confidence", error);
	if (!json_is_number(weight))
		return model_wrong_field(path, "weight", "is not a number", error);
	if (!json_is_number(intercept))
		return model_wrong_field(path, "intercept", "is not a number", error);
	*model = (struct noise_model){
	        .logistic = {json_number_value(weight), json_number_value(intercept)},
	        .epochs = (size_t)json_integer_value(json_object_get(json, "epochs")),
	};
	return 0;
}

int
noise_model_read(const char *path, struct noise_model *model, struct portolan_error *error)
{
	json_error_t problem;
	CLEANUP(content_close) struct content content = {0};
	json_auto_t *json = NULL;
	int code = content_open(&content, path, error);

	if (code < 0)
		return code;
	if (content.size == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is empty", path);
	json = json_loadb(content.bytes, content.size, JSON_REJECT_DUPLICATES, &problem);
	if (!json)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %d is not well-formed JSON: %s", path,
		                 problem.line, problem.text);
	return model_read_fields(json, path, model, error);
}
