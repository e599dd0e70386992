/*
 * aflite_files.c: writes the result files of `portolan aflite`: the log, the scores, the lists of removed, kept and
 * randomly drawn examples, and the manifest. The list of kept examples is written after every other result; only the
 * manifest, which describes it, follows.
 *
 * No file but the manifest depends on the time, and none on the number of threads.
 */
#include "aflite.h"

#include "checkpoint.h"
#include "files/lines.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/table.h"
#include "output/text.h"
#include "selection/manifest.h"
#include "statistics/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct log_line {
	uint64_t phase;
	struct filter_log log;
};

#define LINE(member) offsetof(struct log_line, member)
static const struct table_column log_columns[] = {{"phase", TABLE_U64, LINE(phase)},
                                                  {"examples", TABLE_U64, LINE(log.left)},
                                                  {"train_size", TABLE_U64, LINE(log.trained)},
                                                  {"mean_p", TABLE_F64, LINE(log.mean_p)},
                                                  {"accuracy", TABLE_F64, LINE(log.accuracy)},
                                                  {"qualified", TABLE_U64, LINE(log.qualified)},
                                                  {"removed", TABLE_U64, LINE(log.removed)},
                                                  {"lowest_p", TABLE_F64, LINE(log.lowest)},
                                                  {"tied", TABLE_U64, LINE(log.tied)},
                                                  {"tied_removed", TABLE_U64, LINE(log.tied_removed)},
                                                  {"never_predicted", TABLE_U64, LINE(log.unpredicted)},
                                                  {"class_missing", TABLE_U64, LINE(log.lacking)},
                                                  {"not_converged", TABLE_U64, LINE(log.unfinished)},
                                                  {"evaluations", TABLE_U64, LINE(log.evaluations)}};

/* Writes a line for each phase, and one for the kept set. */
static void
aflite_write_log(const struct aflite *aflite)
{
	size_t count = filter_lines(&aflite->filter);
	CLEANUP_FREE struct log_line *lines = memory_new(count, sizeof(*lines));
	struct table table = TABLE_OF(log_columns, lines, count);

	for (size_t i = 0; i < count; i++)
		lines[i] = (struct log_line){i + 1, *filter_line(&aflite->filter, i)};
	must(table_write(&table, aflite->request->log, (enum table_format)aflite->request->log_format, &failure));
}

struct score {
	int64_t removed; /* the phase that removed the example; −1: it is kept */
	double p, margin;
};

/* Writes a line for each example, with the scores of the last phase that scored it. */
static void
aflite_write_scores(const struct aflite *aflite)
{
	const struct input *input = &aflite->input;
	const struct filter_scores *scores = &aflite->filter.scores;
	size_t count = aflite->filter.total;
	CLEANUP_FREE struct score *list = memory_new(count, sizeof(*list));
	const char *id = input->ids->kind == STORE_ID_STR || input->has_run ? "id" : "row";
	const struct table_column of_id = {id, TABLE_ID_AT, .values = input->examples, .of = input->ids};
	const struct table_column of_label = {"label", TABLE_WORD, .values = input->labels.values,
	                                      .of = input->labels.names};
	const struct table_column others[] = {{"phase_removed", TABLE_I64, offsetof(struct score, removed)},
	                                      {"p", TABLE_F64, offsetof(struct score, p)},
	                                      {"margin", TABLE_F64, offsetof(struct score, margin)},
	                                      {"predictions", TABLE_U32, .values = scores->made}};
	struct table_column columns[6] = {of_id, of_label};
	struct table table = TABLE_OF(columns, list, count);

	for (size_t i = 0; i < count; i++) {
		uint32_t made = scores->made[i];

		list[i].removed = scores->removed[i] ? (int64_t)scores->removed[i] : -1;
		list[i].p = made ? scores->correct[i] / (double)made : NAN;
		list[i].margin = made && !input->has_models ? scores->margins[i] : NAN;
	}
	table.column_count = input->has_labels ? 6 : 5;
	memcpy(columns + table.column_count - 4, others, sizeof(others));
	must(table_write(&table, aflite->request->scores, (enum table_format)aflite->request->scores_format, &failure));
}

/* Writes the examples with in[example] == wanted, ascending: their lines of the user's file, or else one id a line. */
static void
aflite_write_list(const struct aflite *aflite, const char *path, const uint8_t *in, bool wanted)
{
	const struct input *input = &aflite->input;
	struct output output;

	must(output_open(&output, path, &failure));
	if (input->has_join)
		lines_head(&output, &input->join, NULL);
	for (size_t i = 0; i < input->join.count; i++) {
		const struct join_match *match = &input->join.matches[i];

		if (in[match->position] != wanted)
			continue;
		lines_record(&output, &input->join, &match->record);
		lines_end(&output, &match->record);
	}
	for (size_t i = 0; !input->has_join && i < input->count; i++) {
		if (in[i] != wanted)
			continue;
		text_id(&output, input->ids, input->examples[i]);
		output_bytes(&output, "\n", 1);
	}
	must(output_finish(&output, &failure));
}

/* Draws at random as many examples as are kept, and sets in[example] = 1 for each. */
static void
aflite_draw_baseline(const struct filter *filter, uint8_t *in)
{
	CLEANUP_FREE uint32_t *drawn = memory_new(filter->total, sizeof(*drawn));
	struct random_state random;

	memset(in, 0, filter->total);
	for (uint32_t example = 0; example < filter->total; example++)
		drawn[example] = example;
	random_seed(&random, filter->options.seed);
	random_sample(&random, drawn, filter->total, filter_left(filter));
	for (size_t i = 0; i < filter_left(filter); i++)
		in[drawn[i]] = 1;
}

static void
aflite_report_classes(struct report *report, const struct aflite *aflite)
{
	const struct labels *labels = &aflite->input.labels;
	CLEANUP_FREE uint64_t *kept = memory_new(labels->class_count, sizeof(*kept));
	struct table_column columns[] = {{"label", TABLE_TEXT, .values = labels->names},
	                                 {"examples", TABLE_U64, .values = labels->examples},
	                                 {"kept", TABLE_U64, .values = kept},
	                                 {"cosine_kept", TABLE_F64},
	                                 {"cosine_removed", TABLE_F64}};
	struct table table = TABLE_OF_ARRAYS(columns, labels->class_count);

	for (unsigned s = 0; s < SIMILARITY_SIDES; s++)
		columns[3 + s].values = aflite->similarity.by_class[s];
	if (!aflite->input.has_features)
		table.column_count -= SIMILARITY_SIDES;
	for (size_t i = 0; i < aflite->filter.total; i++)
		kept[labels->values[i]] += aflite->filter.scores.removed[i] == 0;
	table_report(report, "classes", &table);
}

static void
aflite_report_cosines(struct report *report, const char *name, const struct cosines *cosines)
{
	report_begin(report, name);
	report_whole(report, "pairs", cosines->pairs);
	report_real(report, "mean", cosines->mean);
	report_real(report, "deviation", cosines->deviation);
	report_end(report);
}

static void
aflite_report_similarities(struct report *report, const struct similarity *similarity)
{
	report_begin(report, "cosine_similarity");
	aflite_report_cosines(report, "kept", &similarity->any[SIMILARITY_KEPT]);
	aflite_report_cosines(report, "removed", &similarity->any[SIMILARITY_REMOVED]);
	aflite_report_cosines(report, "kept_within_labels", &similarity->within[SIMILARITY_KEPT]);
	aflite_report_cosines(report, "removed_within_labels", &similarity->within[SIMILARITY_REMOVED]);
	report_end(report);
}

static void
aflite_report_parameters(struct report *report, const struct aflite *aflite)
{
	const struct input_request *input = &aflite->request->input;
	const struct filter_options *options = &aflite->filter.options;
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, aflite->input.source.digest);
	report_begin(report, "parameters");
	report_text(report, "features", input->features);
	if (input->features)
		report_text(report, "features_digest", digest);
	if (input->models)
		report_text(report, "scores_of_models", input->models);
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
	report_text(report, "model", input->models ? NULL : filter_model_names[options->hinge]);
	report_real(report, "ridge", options->lambda);
	report_flag(report, "standardise", input->standardise);
	report_text(report, "heuristic", slice_heuristic_names[options->heuristic]);
	report_text(report, "ties", slice_ties_names[options->ties]);
	report_whole(report, "seed", options->seed);
	report_end(report);
}

static void
aflite_write_manifest(const struct aflite *aflite, const char *output)
{
	const struct filter *filter = &aflite->filter;
	struct manifest manifest;
	struct report *report = &manifest.report;

	manifest_open(&manifest, "aflite", output, aflite->input.has_run ? &aflite->input.dynamics : NULL,
	              aflite->request->common.query.store);
	REPORT_WHOLES(report, {"examples", filter->total}, {"excluded", aflite->input.excluded},
	              {"kept", filter_left(filter)}, {"phases", filter->phases});
	report_begin(report, "held_out_accuracy");
	report_real(report, "all", filter->log[0].accuracy);
	report_real(report, "before_last_slice", filter_last_cut(filter)->accuracy);
	report_real(report, filter->made ? "kept_by_the_same_predictions" : "kept", filter->kept.accuracy);
	report_end(report);
	if (aflite->input.has_features)
		aflite_report_similarities(report, &aflite->similarity);
	if (aflite->input.has_labels)
		aflite_report_classes(report, aflite);
	aflite_report_parameters(report, aflite);
	manifest_close(&manifest);
}

void
aflite_write(const struct aflite *aflite)
{
	const struct aflite_request *request = aflite->request;
	const char *kept = request->common.output;
	CLEANUP_FREE uint8_t *in = memory_new(aflite->filter.total, 1);

	if (request->log)
		aflite_write_log(aflite);
	if (request->scores)
		aflite_write_scores(aflite);
	if (request->baseline) {
		aflite_draw_baseline(&aflite->filter, in);
		aflite_write_list(aflite, request->baseline, in, true);
	}
	for (size_t i = 0; i < aflite->filter.total; i++)
		in[i] = aflite->filter.scores.removed[i] == 0;
	if (request->removed)
		aflite_write_list(aflite, request->removed, in, false);
	if (request->plot)
		aflite_draw_chart(&aflite->filter, &request->picture);
	aflite_write_list(aflite, kept, in, true);
	if (!request->without_manifest && manifest_is_possible(kept))
		aflite_write_manifest(aflite, kept);
	if (request->checkpoint)
		checkpoint_remove(request->checkpoint);
}
