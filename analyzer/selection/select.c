/*
 * select.c: the command `portolan select`, which writes the ids, or the user's own lines, of the examples that a rule
 * ranks first.
 *
 * Joined lines come in rank order, like ids do: the first lines are the most ambiguous (hardest, …) ones. The user's
 * file is mapped: its text takes no memory.
 */
#include "base/message.h"
#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "select_files.h"
#include "select_labels.h"
#include "select_options.h"
#include "sources.h"
#include "trajectories.h"

#include <string.h>

/* Tells the user about ids in the lists that cannot be chosen. Returns STATUS_INCOMPLETE if there were any. */
static int
select_report_lists(const struct select_request *request, const struct dynamics *dynamics)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < request->list_count; i++) {
		const struct pool_list *list = &request->lists[i];

		if (list->unknown == 0)
			continue;
		message_warning("not observed in run '%s': %s of the %s ids in %s, '%s' in %s %llu the first",
		                dynamics->info->name, NUMBER_GROUPED(list->unknown), NUMBER_GROUPED(list->ids),
		                list->path, list->first, list->unit, (unsigned long long)list->first_place);
		status = STATUS_INCOMPLETE;
	}
	return request->common.strict ? status : STATUS_DONE;
}

/* Chooses the examples, and writes them. Returns an exit status. */
static int
select_choose(struct select_request *request, struct dynamics *dynamics)
{
	struct features features = {0};
	const struct sources_request field = {
	        .option = request->source_file ? "--sources-data" : "--data",
	        .path = request->source_file ? request->source_file : request->join,
	        .id_field = request->id_field,
	        .field = request->source_field,
	        .glue = request->glue,
	};
	struct selection_source source = {
	        .dynamics = dynamics,
	        .cuts = request->has_cuts ? &request->cuts : NULL,
	        .threshold = request->has_threshold ? &request->threshold : NULL,
	        .features = request->features ? &features : NULL,
	        .threads = parallel_threads(request->common.query.threads),
	        .beta_c = request->beta_c,
	        .clusters = (size_t)request->clusters,
	        .starts = (size_t)request->starts,
	        .seed = request->seed,
	};
	CLEANUP_ARRAY uint32_t *order =
	        pool_make(dynamics, request->lists, request->list_count, request->within, &source.count);
	CLEANUP_ARRAY uint32_t *sources = NULL;
	int status, lists = select_report_lists(request, dynamics);

	source.count = select_labels_leave_out(request->labels, request, dynamics, order, source.count);
	if (request->labels->corrected.corrections.unknown > 0 && request->common.strict)
		lists = STATUS_INCOMPLETE;
	source.order = order;
	if (request->source_field)
		sources = sources_read(&field, dynamics, order, source.count, &source.source_count);
	source.sources = sources;
	if (request->run_count == 1) /* after the polygons were applied, which were drawn over the events as counted */
		never_learned_count(dynamics, (enum never_learned)request->never_learned);
	if (request->features)
		features_open(&features, request->features, request->feature_ids, dynamics);
	status = select_write_files(request, &source);
	features_close(&features);
	return status ? status : lists;
}

/* Reads the selection of --within. Its epochs are used unless others were asked for. */
static void
select_read_within(struct select_request *request, struct dynamics_request *wanted)
{
	struct run_query *query = &request->common.query;
	const char *run, *epochs;

	must(within_read(&request->within, request->within_file, &failure));
	run = request->within->run;
	epochs = request->within->epochs;
	if (run && strcmp(run, request->runs[0]) != 0)
		message_warning("%s was made on run '%s', and is applied to '%s'", request->within_file, run,
		                request->runs[0]);
	if (epochs && query->epochs_given)
		message_warning("%s was made on epochs %s, and is applied to others", request->within_file, epochs);
	else if (epochs && (!run_query_parse_epochs(epochs, &query->epoch_from, &query->epoch_to) ||
	                    query->epoch_from >= query->epoch_to))
		die("%s: 'epochs' is A:B, with A below B, not '%s'", request->within_file, epochs);
	query->epochs_given = query->epochs_given || epochs;
	within_request(request->within, wanted);
}

/* Warns if the values on which the polygons were drawn have changed. */
static void
select_warn_changed(const struct select_request *request, const struct dynamics *dynamics)
{
	if (request->within && request->run_count == 1 && within_is_changed(request->within, dynamics))
		message_warning(
		        "%s: observations of these epochs were replaced or added since it was made: the ids may be others",
		        request->within_file);
}

static int
select_run(void *context, struct portolan_error *error)
{
	struct select_request *request = context;
	struct dynamics_request wanted = {
	        .measures = request->with_measures ? MEASURE_ALL : 0,
	        .user = request->with_measures,
	        .trend = true,
	        .losses = !request->why && !request->without_suspects && !request->corrections,
	        .gold = request->with_measures || select_has_manifest(request),
	};
	const struct common_options *common = &request->common;
	struct dynamics_request ranked = {0};
	struct aggregate_report report;
	struct dynamics dynamics = {0};
	struct select_labels labels = {.has_suspects = false};
	int status, gaps;

	(void)error;
	if (request->within_file)
		select_read_within(request, &wanted);
	request->labels = &labels;
	select_labels_request(request, &wanted);
	selection_plan_request(&request->plan, &wanted);
	selection_plan_request(&request->plan, &ranked);
	if (request->run_count == 1)
		must(dynamics_load(&dynamics, &common->query, request->runs[0], &wanted, &failure));
	else if (common->query.minus)
		must(dynamics_load_minus(&dynamics, &common->query, request->runs[0], &wanted,
		                         (enum never_learned)request->never_learned, &report, &failure));
	else
		must(dynamics_load_aggregate(&dynamics, &common->query, request->runs, request->run_count, &wanted,
		                             (enum never_learned)request->never_learned,
		                             request->any_run ? AGGREGATE_ANY : AGGREGATE_SHARED, &report, &failure));
	status = select_check_rules(request, &dynamics);
	select_warn_changed(request, &dynamics);
	if (status == STATUS_DONE) {
		select_labels_find(&labels, request, &dynamics);
		status = select_choose(request, &dynamics);
	}
	if (status == STATUS_DONE || status == STATUS_INCOMPLETE) {
		if (!common->query.minus)
			dynamics_report_variability(&dynamics, ranked.measures);
		gaps = request->run_count > 1 ? aggregate_report_gaps(&report, common->strict)
		                              : dynamics_report(&dynamics, common->strict);
		status = status ? status : gaps;
	}
	select_labels_free(&labels);
	dynamics_free(&dynamics);
	within_free(request->within);
	select_free_files(request);
	return status;
}

static const struct select_request defaults = {
        .plan = {.fraction = 1, .top_share = 1},
        .beta_c = 4,
        .clusters = TRAJECTORIES_CLUSTERS,
        .starts = 1,
        .format = -1,
        .never_learned = -1,
        .run_count = 1,
};

extern const struct help help_select;

const struct command select_command = {
        .name = "select",
        .operands = "RUN --by RULE",
        .help = &help_select,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_MINUS | COMMON_JSON |
                  COMMON_STRICT | COMMON_THREADS | COMMON_MEMORY,
        .options = select_option_table,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct select_request),
        .defaults = &defaults,
        .check = select_check,
        .run = select_run,
};
