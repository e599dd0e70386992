/* aflite_files.c: what portolan aflite leaves behind: the kept examples last, after what is said about them. */
#include "aflite.h"

#include "checkpoint.h"
#include "selection/manifest.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of report_kept() and the like, whose list it frees. */
static int
write_list(const struct aflite *aflite, const char *path, uint32_t *examples, size_t count,
           struct portolan_error *error)
{
	int code = examples ? report_examples(path, &aflite->names, examples, count, error)
	                    : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the examples of %s",
	                                path ? path : "standard output");

	free(examples);
	return code;
}

static void
add_classes(struct report *report, const struct aflite *aflite)
{
	static const struct rows_column columns[] = {
	        {"label", ROWS_TEXT}, {"examples", ROWS_WHOLE}, {"kept", ROWS_WHOLE}};
	const struct labels *labels = &aflite->input.labels;
	uint64_t *kept = calloc(labels->class_count, sizeof(*kept));
	struct rows rows;

	if (!kept) {
		output_fail(&report->output);
		return;
	}
	for (size_t i = 0; i < aflite->filter.total; i++)
		kept[labels->values[i]] += aflite->filter.scores.removed[i] == 0;
	rows_begin(&rows, report, "classes", columns, ROWS_COUNT(columns));
	for (size_t c = 0; c < labels->class_count; c++) {
		rows_text(&rows, labels->names[c]);
		rows_whole(&rows, labels->examples[c]);
		rows_whole(&rows, kept[c]);
	}
	rows_end(&rows);
	free(kept);
}

static void
add_parameters(struct report *report, const struct aflite *aflite)
{
	const struct input_request *input = &aflite->request->input;
	const struct filter_options *options = &aflite->filter.options;
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, aflite->input.source.digest);
	report_begin(report, "parameters");
	report_text(report, "features", input->features);
	report_text(report, "features_digest", digest);
	report_text(report, "labels", input->labels);
	report_text(report, "label_field", input->label_field);
	report_text(report, "groups", input->groups);
	report_text(report, "exclude", input->exclude);
	report_text(report, "data", input->data);
	report_text(report, "id_field", input->id_field);
	if (input->glue)
		report_flag(report, "glue", true);
	REPORT_WHOLES(report, {"target_size", options->target}, {"partitions", options->partitions},
	              {"train_size", options->train}, {"slice", options->slice});
	report_real(report, "threshold", options->threshold);
	report_real(report, "ridge", options->lambda);
	report_flag(report, "standardise", input->standardise);
	report_text(report, "heuristic", slice_heuristic_names[options->heuristic]);
	report_text(report, "ties", slice_ties_names[options->ties]);
	report_whole(report, "seed", options->seed);
	report_end(report);
}

static int
write_manifest(const struct aflite *aflite, const char *output, struct portolan_error *error)
{
	const struct filter *filter = &aflite->filter;
	struct manifest manifest;
	struct report *report = &manifest.report;
	int code = manifest_open(&manifest, "aflite", output, aflite->input.has_run ? &aflite->input.dynamics : NULL,
	                         aflite->request->common.query.store, error);

	if (code < 0)
		return code;
	REPORT_WHOLES(report, {"examples", filter->total}, {"excluded", aflite->input.excluded},
	              {"kept", filter_left(filter)}, {"phases", filter->phases});
	report_begin(report, "held_out_accuracy");
	report_real(report, "all", filter->log[0].accuracy);
	report_real(report, "before_last_slice", filter_last_cut(filter)->accuracy);
	report_real(report, "kept", filter->kept.accuracy);
	report_end(report);
	add_classes(report, aflite);
	add_parameters(report, aflite);
	return manifest_close(&manifest, error);
}

int
aflite_write(const struct aflite *aflite, struct portolan_error *error)
{
	const struct aflite_request *request = aflite->request;
	const char *kept = request->common.output;
	bool with_manifest = !request->without_manifest && manifest_is_possible(kept);
	size_t left = filter_left(&aflite->filter);
	int code = 0;

	if (request->log)
		code = report_log(request->log, (enum rows_format)request->log_format, &aflite->filter, error);
	if (code >= 0 && request->scores)
		code = report_scores(request->scores, (enum rows_format)request->scores_format, &aflite->filter,
		                     &aflite->names, &aflite->input.labels, error);
	if (code >= 0 && request->baseline)
		code = write_list(aflite, request->baseline, report_baseline(&aflite->filter), left, error);
	if (code >= 0 && request->removed)
		code = write_list(aflite, request->removed, report_kept(&aflite->filter, true),
		                  aflite->filter.total - left, error);
	if (code >= 0 && request->plot)
		code = report_chart(&aflite->filter, &request->picture, error);
	if (code >= 0)
		code = write_list(aflite, kept, report_kept(&aflite->filter, false), left, error);
	if (code >= 0 && with_manifest)
		code = write_manifest(aflite, kept, error);
	if (code >= 0 && request->checkpoint)
		checkpoint_remove(request->checkpoint);
	return code < 0 ? code : 0;
}
