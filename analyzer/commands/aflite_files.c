/* aflite_files.c: what portolan aflite leaves behind: the kept examples last, after what is said about them. */
#include "aflite.h"

#include "aflite/checkpoint.h"
#include "output/report.h"
#include "selection/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One file of the request; `write` fills it. */
static int
write_file(const struct aflite *aflite, const char *path,
           void (*write)(struct output *output, const struct aflite *aflite), struct portolan_error *error)
{
	struct output output;
	int code = path ? output_open(&output, path, error) : 0;

	if (!path || code < 0)
		return code;
	write(&output, aflite);
	return output_finish(&output, error);
}

static void
write_log(struct output *output, const struct aflite *aflite)
{
	report_log(output, &aflite->filter);
}

static void
write_scores(struct output *output, const struct aflite *aflite)
{
	report_scores(output, &aflite->filter, &aflite->names, &aflite->input.labels);
}

static void
write_list(struct output *output, const struct aflite *aflite, uint32_t *examples)
{
	if (examples)
		report_ids(output, &aflite->names, examples, filter_left(&aflite->filter));
	else
		output_fail(output);
	free(examples);
}

static void
write_kept(struct output *output, const struct aflite *aflite)
{
	write_list(output, aflite, report_kept(&aflite->filter));
}

static void
write_baseline(struct output *output, const struct aflite *aflite)
{
	write_list(output, aflite, report_baseline(&aflite->filter));
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
	                           ? manifest_new("aflite", &aflite->input.dynamics, request->options.common.store)
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
	                            report_text(request->features), "features_digest", digest, "labels",
	                            report_text(request->labels), "label_field", report_text(request->label_field),
	                            "groups", report_text(request->groups), "target_size", (json_int_t)options->target,
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
	const char *kept = request->options.common.output;
	bool with_manifest = !request->without_manifest && manifest_is_possible(kept);
	int code = write_file(aflite, request->log, write_log, error);

	if (code >= 0)
		code = write_file(aflite, request->scores, write_scores, error);
	if (code >= 0)
		code = write_file(aflite, request->baseline, write_baseline, error);
	if (code >= 0 && request->plot)
		code = report_chart(&aflite->filter, &request->picture, error);
	if (code >= 0)
		code = write_file(aflite, kept ? kept : "-", write_kept, error);
	if (code >= 0 && with_manifest)
		code = write_manifest(aflite, kept, error);
	if (code >= 0 && request->checkpoint)
		checkpoint_remove(request->checkpoint);
	return code;
}
