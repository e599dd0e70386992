/*
 * aflite.c: the command `portolan aflite`: filters a dataset adversarially (AFLite: Le Bras et al., ICML 2020). Phase
 * by phase it removes the examples whose labels linear classifiers predict most easily from their features.
 *
 * What may be refused (the ending of a picture's name, a folder that is not there) is checked before the work. The
 * checkpoint is removed when all results are written.
 */
#include "aflite.h"
#include "base/message.h"
#include "base/number.h"
#include "checkpoint.h"
#include "die/die.h"
#include "options/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The bytes that a program can get without driving others out; 0: the system does not say. */
static uint64_t
aflite_available_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	uint64_t kilobytes = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

#define MEMORY_ROOM 32

/* Prints "10 KiB" or "512 MiB". */
static const char *
aflite_print_memory(double bytes, char text[MEMORY_ROOM])
{
	if (bytes < 0x1p20)
		snprintf(text, MEMORY_ROOM, "%.0f KiB", ceil(bytes / 0x1p10));
	else
		snprintf(text, MEMORY_ROOM, "%.0f MiB", ceil(bytes / 0x1p20));
	return text;
}

/* Refuses a filter that would take more memory than there is. */
static void
aflite_check_memory(const struct aflite *aflite, const struct filter_options *options)
{
	const struct input *input = &aflite->input;
	uint64_t needed =
	        filter_bytes(options, input->count, input->source.array->header.shape[1], input->labels.class_count,
	                     input->has_groups ? input->groups.class_count : 0) +
	        similarity_bytes(input->count, input->source.array->header.shape[1], input->labels.class_count);
	uint64_t most = aflite->request->max_memory ? aflite->request->max_memory : aflite_available_memory();
	char takes[MEMORY_ROOM], there[MEMORY_ROOM];

	aflite_print_memory((double)needed, takes);
	if (most > 0 && needed > most)
		die("it would take %s of memory, and %s %s: give it so much, or say fewer --partitions, or fewer features",
		    takes, aflite->request->max_memory ? "--max-memory is" : "there are",
		    aflite_print_memory((double)most, there));
	message_note("aflite: %s examples, %llu features, %zu classes; takes about %s of memory",
	             NUMBER_GROUPED(input->count), (unsigned long long)input->source.array->header.shape[1],
	             input->labels.class_count, takes);
}

/* Warns of what is odd about the data, but can be worked with. */
static void
aflite_report_input(const struct aflite *aflite)
{
	const struct input *input = &aflite->input;
	int64_t gap = input->has_labels ? labels_gap(&input->labels) : -1;

	if (input->has_join)
		join_report(&input->join, aflite->request->input.id_field, input->ids, input->examples, input->count,
		            "");
	if (input->exclude.unknown > 0)
		message_warning("%s: %s of its %s ids are of no example, '%s' in %s %llu the first",
		                input->exclude.path, NUMBER_GROUPED(input->exclude.unknown),
		                NUMBER_GROUPED(input->exclude.ids), input->exclude.first, input->exclude.unit,
		                (unsigned long long)input->exclude.first_place);
	if (input->exclude.path)
		message_note("aflite: %s examples are left out, as %s says", NUMBER_GROUPED(input->excluded),
		             input->exclude.path);
	if (input->without_row > 0)
		message_warning("%zu examples of run '%s' have no %s in %s and take no part", input->without_row,
		                aflite->request->input.run, input->features.unit, input->features.path);
	if (input->without_label > 0)
		message_warning("%zu examples of run '%s' have no gold label and take no part", input->without_label,
		                aflite->request->input.run);
	if (input->has_features && input->source.constant_columns > 0)
		message_warning(
		        "%s: %zu of %llu columns are constant, the first of them %zu (from 0): they say nothing",
		        aflite->request->input.features, input->source.constant_columns,
		        (unsigned long long)input->source.array->header.shape[1], input->source.first_constant);
	if (input->labels.class_count > input->count / 2 && !input->has_models)
		message_warning("%zu labels for %zu examples: are they ids? So many classes take long",
		                input->labels.class_count, input->count);
	if (gap >= 0 && !input->has_models)
		message_warning("the labels skip numbers, the first of them %lld: taken as %zu classes", (long long)gap,
		                input->labels.class_count);
}

/* Refuses result files whose names end as another format's. 0, or STATUS_USAGE. */
static int
aflite_check_endings(const struct aflite *aflite)
{
	const struct aflite_request *request = aflite->request;
	const struct {
		const char *option, *path;
	} outputs[] = {
	        {"-o", request->common.output}, {"--removed", request->removed}, {"--baseline", request->baseline}};
	int status = 0;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && status == 0; i++)
		status = aflite->input.has_join
		                 ? format_of_lines(&request->common, outputs[i].option, outputs[i].path,
		                                   request->input.data, aflite->input.join.format)
		                 : format_of_one(&request->common, outputs[i].option, outputs[i].path, "rows");
	return status;
}

/* Opens input and filter. 0, or STATUS_USAGE. */
static int
aflite_open(struct aflite *aflite)
{
	const struct aflite_request *request = aflite->request;
	struct filter_options options = aflite_filter_options(request, 0, 0);
	struct input_request wanted = request->input;
	struct filter_data data;

	if (request->plot)
		must(picture_check(&request->picture, &failure));
	if (request->checkpoint)
		checkpoint_prepare(request->checkpoint);
	wanted.query = &request->common.query;
	wanted.kernels = options.kernels;
	wanted.threads = options.threads;
	input_open(&aflite->input, &wanted);
	if (aflite_check_endings(aflite) != 0)
		return STATUS_USAGE;
	aflite_report_input(aflite);
	options = aflite_filter_options(request, aflite->input.count, aflite->input.models.count);
	data = (struct filter_data){.rows = aflite->input.count,
	                            .features =
	                                    aflite->input.has_models ? 0 : aflite->input.source.array->header.shape[1],
	                            .labels = aflite->input.labels.values,
	                            .classes = aflite->input.labels.class_count,
	                            .groups = aflite->input.has_groups ? aflite->input.groups.values : NULL,
	                            .group_count = (uint32_t)aflite->input.groups.class_count,
	                            .made = aflite->input.models.made,
	                            .correct = aflite->input.models.correct};
	if (aflite->input.has_models)
		message_note("aflite: %s examples, predicted by %zu models", NUMBER_GROUPED(data.rows),
		             aflite->input.models.count);
	else if (data.classes > 1)
		aflite_check_memory(aflite, &options);
	filter_init(&aflite->filter, &options, &data);
	if (request->checkpoint)
		aflite->parameters = checkpoint_parameters(&options, &aflite->input.source, aflite->input.labels.digest,
		                                           aflite->input.groups.digest);
	return 0;
}

/* As must(), but wipes the status line first. */
static int
aflite_must(struct status *status, int code)
{
	if (code < 0)
		status_end(status);
	return must(code);
}

/* Runs the phases; if there is a checkpoint, those after it. The checkpoint stays until the results are written. */
static void
aflite_run_phases(struct aflite *aflite)
{
	const char *checkpoint = aflite->request->checkpoint;
	struct filter *filter = &aflite->filter;
	struct status status;

	if (checkpoint && must(checkpoint_read(filter, checkpoint, aflite->parameters, &failure)) > 0)
		message_note("aflite: going on after phase %zu", filter->phases);
	if (!aflite->input.has_models)
		filter_load(filter, &aflite->input.source);
	status_begin(&status, filter);
	while (!filter->finished) {
		aflite_must(&status, filter_phase(filter, &failure));
		if (checkpoint)
			aflite_must(&status, checkpoint_write(filter, checkpoint, aflite->parameters, &failure));
		status_update(&status, filter);
	}
	aflite_must(&status, filter_measure(filter, &failure));
	status_end(&status);
}

/* Why no more examples were removed. */
static const char *
aflite_explain_end(const struct filter *filter)
{
	const struct filter_log *last = &filter->log[filter->phases - 1];

	if (filter_left(filter) <= filter->options.target)
		return "so many were asked for";
	if (filter->made && last->qualified >= filter->options.slice)
		return "the slice is full, and predictions of one's own serve one phase";
	return filter->made ? "no other was predictable enough" : "fewer than a slice were predictable enough";
}

static void
aflite_report_accuracy(const struct filter *filter)
{
	double all = filter->log[0].accuracy;

	if (filter_left(filter) == filter->total)
		message_note("aflite: held-out accuracy %.3f of all examples; nothing was removed", all);
	else if (filter->made && isnan(filter->kept.accuracy))
		message_note("aflite: held-out accuracy %.3f of all examples; of the kept there are no predictions",
		             all);
	else if (filter->made)
		message_note(
		        "aflite: held-out accuracy %.3f of all examples; the same predictions of the kept, which they "
		        "chose: %.3f",
		        all, filter->kept.accuracy);
	else
		message_note(
		        "aflite: held-out accuracy %.3f of all examples, %.3f before the last slice was removed, %.3f of the kept",
		        all, filter_last_cut(filter)->accuracy, filter->kept.accuracy);
}

/* Says how alike the kept examples are, and the removed ones: pairs of one label, or, without labels, any pairs. */
static void
aflite_report_similarity(const struct aflite *aflite)
{
	const struct similarity *similarity = &aflite->similarity;
	bool labelled = aflite->input.has_labels;
	const struct cosines *cosines = labelled ? similarity->within : similarity->any;
	const struct cosines *kept = &cosines[SIMILARITY_KEPT], *removed = &cosines[SIMILARITY_REMOVED];
	const char *pairs = labelled ? "two examples of a label" : "two examples";

	if (kept->pairs > 0 && removed->pairs > 0)
		message_note(
		        "aflite: cosine similarity of %s: mean %.3f, deviation %.3f of the kept; %.3f, %.3f of the removed",
		        pairs, kept->mean, kept->deviation, removed->mean, removed->deviation);
	else if (kept->pairs > 0)
		message_note("aflite: cosine similarity of %s: mean %.3f, deviation %.3f", pairs, kept->mean,
		             kept->deviation);
	if (similarity->without_direction > 0)
		message_warning("%s examples have no feature but 0, and no cosine similarity",
		                NUMBER_GROUPED(similarity->without_direction));
}

/* Tells the user what happened. Returns STATUS_INCOMPLETE if a record is missing, or, with --strict, a classifier did
 * not converge. */
static int
aflite_report_result(const struct aflite *aflite)
{
	const struct filter *filter = &aflite->filter;
	const struct filter_log *last = &filter->log[filter->phases - 1];
	uint64_t unfinished = 0, lacking = 0, sets = filter_lines(filter) * filter->options.partitions;

	for (size_t line = 0; line < filter_lines(filter); line++) {
		unfinished += filter_line(filter, line)->unfinished;
		lacking += filter_line(filter, line)->lacking;
	}
	message_note("aflite: kept %s of %s examples after %zu %s: %s", NUMBER_GROUPED(filter_left(filter)),
	             NUMBER_GROUPED(filter->total), filter->phases, filter->phases == 1 ? "phase" : "phases",
	             aflite_explain_end(filter));
	aflite_report_accuracy(filter);
	if (aflite->input.has_features)
		aflite_report_similarity(aflite);
	if (last->tied > last->tied_removed)
		message_note("aflite: %s examples shared the p at the last cut; --ties %s decided among them",
		             NUMBER_GROUPED(last->tied), slice_ties_names[filter->options.ties]);
	if (last->unpredicted > 0)
		message_warning("%llu examples were never predicted in the last phase and are kept: say more %s",
		                (unsigned long long)last->unpredicted, filter->made ? "models" : "--partitions");
	if (lacking > 0)
		message_warning("%llu of %llu training sets lacked a class, which they could not predict",
		                (unsigned long long)lacking, (unsigned long long)sets);
	if (filter->groups && last->trained + 1 < filter->options.train)
		message_warning("groups fill training sets to %llu of %zu examples: the next group was too large",
		                (unsigned long long)last->trained, filter->options.train);
	if (unfinished > 0)
		message_warning("%llu of %llu classifiers did not converge: scale the features",
		                (unsigned long long)unfinished, (unsigned long long)sets);
	return (unfinished > 0 && aflite->request->common.strict) || aflite->input.join.missing > 0 ? STATUS_INCOMPLETE
	                                                                                            : STATUS_DONE;
}

static int
aflite_run(void *context, struct portolan_error *error)
{
	struct aflite aflite = {.request = context};
	int status = aflite_open(&aflite);

	(void)error;
	if (status == 0) {
		aflite_run_phases(&aflite);
		if (aflite.input.has_features)
			similarity_measure(&aflite.similarity, &aflite.input.source, aflite.filter.scores.removed,
			                   &aflite.input.labels, aflite.filter.options.seed);
		aflite_write(&aflite);
		status = aflite_report_result(&aflite);
	}
	free(aflite.parameters);
	similarity_free(&aflite.similarity);
	filter_free(&aflite.filter);
	input_close(&aflite.input);
	return status;
}

static const struct aflite_request aflite_defaults = {
        .threshold = 0.75,
        .ridge = 1,
        .heuristic = SLICE_BEST,
        .ties = -1,
};

extern const struct help help_aflite;

const struct command aflite_command = {
        .name = "aflite",
        .operands = "--features X.npy --labels FILE",
        .help = &help_aflite,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_STRICT | COMMON_THREADS | COMMON_SCRIPT,
        .options = aflite_option_table,
        .request_size = sizeof(struct aflite_request),
        .defaults = &aflite_defaults,
        .check = aflite_check,
        .run = aflite_run,
};
