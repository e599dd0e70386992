/* aflite_files.c: what portolan aflite leaves behind: the kept examples last, after what is said about them. */
#include "aflite.h"

#include "aflite/checkpoint.h"
#include "output/report.h"
#include "selection/manifest.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of report_kept() and the like, whose list it frees. */
static int
write_list(const struct aflite *aflite, const char *path, uint32_t *examples, struct portolan_error *error)
{
	int code = examples ? report_ids(path, &aflite->names, examples, filter_left(&aflite->filter), error)
	                    : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the examples of %s",
	                                path ? path : "standard output");

	free(examples);
	return code;
}

static json_t *
describe_classes(const struct aflite *aflite)
{
	const struct labels *labels = &aflite->input.labels;
	uint64_t *kept = calloc(labels->class_count, sizeof(*kept));
	json_t *classes = json_array();

	for (size_t i = 0; kept && i < aflite->filter.total; i++)
		kept[labels->values[i]] += aflite->filter.scores.removed[i] == 0;
	for (size_t c = 0; kept && c < labels->class_count; c++)
		json_array_append_new(classes,
		                      json_pack("{s:o, s:I, s:I}", "label", report_text(labels->names[c]), "examples",
		                                (json_int_t)labels->examples[c], "kept", (json_int_t)kept[c]));
	free(kept);
	return classes;
}

static int
write_manifest(const struct aflite *aflite, const char *output, struct portolan_error *error)
{
	const struct aflite_request *request = aflite->request;
	const struct filter *filter = &aflite->filter;
	const struct filter_options *options = &filter->options;
	json_t *manifest = aflite->input.has_run
	                           ? manifest_new("aflite", &aflite->input.dynamics, request->common.store)
	                           : manifest_new_without_run("aflite");
	char digest[17];
	int failed = !manifest;

	snprintf(digest, sizeof(digest), "%016" PRIx64, aflite->input.source.digest);
	failed |= json_object_set_new(manifest, "examples", json_integer((json_int_t)filter->total)) < 0;
	failed |= json_object_set_new(manifest, "kept", json_integer((json_int_t)filter_left(filter))) < 0;
	failed |= json_object_set_new(manifest, "phases", json_integer((json_int_t)filter->phases)) < 0;
	failed |= json_object_set_new(manifest, "classes", describe_classes(aflite)) < 0;
	failed |= json_object_set_new(
	                  manifest, "parameters",
	                  json_pack("{s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f, s:s, s:s, s:I}", "features",
	                            report_text(request->input.features), "features_digest", digest, "labels",
	                            report_text(request->input.labels), "label_field",
	                            report_text(request->input.label_field), "groups",
	                            report_text(request->input.groups), "target_size", (json_int_t)options->target,
	                            "partitions", (json_int_t)options->partitions, "train_size",
	                            (json_int_t)options->train, "slice", (json_int_t)options->slice, "threshold",
	                            options->threshold, "heuristic", slice_heuristic_names[options->heuristic], "ties",
	                            slice_ties_names[options->ties], "seed", (json_int_t)options->seed)) < 0;
	if (failed) {
		json_decref(manifest);
		manifest = NULL;
	}
	return manifest_write(manifest, output, error);
}

int
aflite_write(const struct aflite *aflite, struct portolan_error *error)
{
	const struct aflite_request *request = aflite->request;
	const char *kept = request->common.output;
	bool with_manifest = !request->without_manifest && manifest_is_possible(kept);
	int code = 0;

	if (request->log)
		code = report_log(request->log, (enum rows_format)request->log_format, &aflite->filter, error);
	if (code >= 0 && request->scores)
		code = report_scores(request->scores, (enum rows_format)request->scores_format, &aflite->filter,
		                     &aflite->names, &aflite->input.labels, error);
	if (code >= 0 && request->baseline)
		code = write_list(aflite, request->baseline, report_baseline(&aflite->filter), error);
	if (code >= 0 && request->plot)
		code = report_chart(&aflite->filter, &request->picture, error);
	if (code >= 0)
		code = write_list(aflite, kept, report_kept(&aflite->filter), error);
	if (code >= 0 && with_manifest)
		code = write_manifest(aflite, kept, error);
	if (code >= 0 && request->checkpoint)
		checkpoint_remove(request->checkpoint);
	return code;
}
