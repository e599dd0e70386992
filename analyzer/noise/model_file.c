/* model_file.c: the classifier as JSON: what is needed to apply it, and beside that where it comes from and how good it
 * was. */
#include "model.h"

#include "output/report.h"
#include "output/output.h"

#include <portolan/error.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND "portolan noise model"
#define VERSION 1

static json_t *
model_json(const struct noise_fit *fit, const char *run, const char *flips_path, uint64_t seed)
{
	const struct noise_score *score = &fit->held_out;

	return json_pack("{s:s, s:i, s:s, s:f, s:f, s:I, s:s, s:o, s:I, s:I, s:I, s:{s:I, s:o, s:o, s:o}, s:s}", "kind",
	                 KIND, "version", VERSION, "feature", "confidence", "weight", fit->model.logistic.weight,
	                 "intercept", fit->model.logistic.intercept, "epochs", (json_int_t)fit->model.epochs, "run",
	                 run, "flips_file", report_text(flips_path), "flips", (json_int_t)fit->flips, "trained_on",
	                 (json_int_t)fit->trained_on, "seed", (json_int_t)seed, "held_out", "examples",
	                 (json_int_t)score->examples, "precision", report_number(score->precision), "recall",
	                 report_number(score->recall), "f1", report_number(score->f1), "written_by",
	                 "portolan " PORTOLAN_VERSION);
}

int
noise_model_write(const struct noise_fit *fit, const char *path, const char *run, const char *flips_path, uint64_t seed,
                  struct portolan_error *error)
{
	return report_print(path, model_json(fit, run, flips_path, seed), 2, error);
}

static int
wrong_field(const char *path, const char *field, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s: field %s %s: is it what portolan noise fit wrote?", path,
	                 field, what);
}

static int
read_fields(const json_t *json, const char *path, struct noise_model *model, struct portolan_error *error)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	const char *feature = json_string_value(json_object_get(json, "feature"));
	const json_t *weight = json_object_get(json, "weight"), *intercept = json_object_get(json, "intercept");
	const json_t *version = json_object_get(json, "version");

	if (!kind || strcmp(kind, KIND) != 0)
		return wrong_field(path, "kind", "is not '" KIND "'", error);
	if (!json_is_integer(version) || json_integer_value(version) > VERSION)
		return error_set(error, PORTOLAN_E_INVALID, "%s: field version: written by a newer portolan", path);
	if (!feature || strcmp(feature, "confidence") != 0)
		return wrong_field(path, "feature", "is not confidence", error);
	if (!json_is_number(weight))
		return wrong_field(path, "weight", "is not a number", error);
	if (!json_is_number(intercept))
		return wrong_field(path, "intercept", "is not a number", error);
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
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
	int code;

	if (!json && problem.line < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", path, problem.text);
	if (!json)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %d: %s", path, problem.line, problem.text);
	code = read_fields(json, path, model, error);
	json_decref(json);
	return code;
}
