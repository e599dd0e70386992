/* metrics.c: the command `portolan metrics`, which prints every example's measures: its options, and what runs it. */
#include "die/die.h"
#include "die/memory.h"
#include "export.h"
#include "measures/aggregate.h"
#include "options/format.h"
#include "output/output.h"
#include "state.h"

#include <string.h>

/* The formats beside those of enum table_format: the tables that other programs read. */
enum { METRICS_CARTOGRAPHY = TABLE_NPY + 1, METRICS_AUM };
static const char *const format_names[] = {"csv", "tsv", "jsonl", "npy", "cartography", "aum", NULL};

struct metrics_request {
	struct common_options common;
	int format, convention; /* −1: not given */
	bool with_ci;
	const char *state;
	bool for_people; /* the table goes to a terminal, and no format was asked for */
};

static int
metrics_check(void *context, struct portolan_error *error)
{
	struct metrics_request *request = context;
	const struct common_options *common = &request->common;

	(void)error;
	request->for_people = format_is_for_people(common) && request->convention <= NEVER_LEARNED_FLAG;
	if (format_choose(common, format_names, &request->format) != 0)
		return STATUS_USAGE;
	if (request->with_ci && request->format != METRICS_CARTOGRAPHY)
		return options_wrong(common,
		                     "--include-ci goes with --format cartography; the others have variability_ci");
	if (request->convention >= 0 && request->format == METRICS_AUM)
		return options_wrong(common, "--never-learned does not go with --format aum, which has no such column");
	if (request->convention == NEVER_LEARNED_FLAG && request->format == METRICS_CARTOGRAPHY)
		return options_wrong(
		        common,
		        "--never-learned flag: the format cartography has no such column; say 1000, epochs, infinity or 0");
	if (common->query.minus && (request->format == METRICS_AUM || request->format == METRICS_CARTOGRAPHY))
		return options_wrong(common, "--minus does not go with --format %s", format_names[request->format]);
	if (request->state && common->query.epochs_auto)
		return options_wrong(common,
		                     "--state does not go with --epochs auto, which reads all epochs each time");
	if (request->state && *request->state == '\0')
		return options_wrong(common, "--state needs the name of a file, and has none");
	if (request->state && strcmp(request->state, "-") == 0)
		return options_wrong(common, "--state is read and written, so it needs a file: - is none");
	if (request->convention < 0)
		request->convention = request->format == METRICS_CARTOGRAPHY ? NEVER_LEARNED_1000 : NEVER_LEARNED_FLAG;
	return 0;
}

static void
metrics_write(struct dynamics *dynamics, const struct export_request *request, const char *path,
              const struct state *state)
{
	struct output output;

	must(output_open(&output, path, &failure));
	if (request->format == TABLE_NPY)
		must(table_check_npy(&output, &failure));
	export_run(dynamics, request, &output);
	if (state)
		must(state_check(state, &failure));
	must(output_finish(&output, &failure));
}

/* Shows a run that was opened. */
static void
metrics_show(struct dynamics *dynamics, const struct state *state)
{
	must(dynamics_hold(dynamics, &failure));
	if (state)
		must(state_check(state, &failure));
	must(run_table_write(dynamics, NULL, TABLE_ALIGNED, &failure));
}

/* Writes the run less another. Returns an exit status. */
static int
metrics_write_difference(const struct metrics_request *request, const struct dynamics_request *wanted)
{
	const struct common_options *common = &request->common;
	CLEANUP(dynamics_free) struct dynamics dynamics = {.store = NULL};
	struct aggregate_report report;

	must(dynamics_load_minus(&dynamics, &common->query, common->operands[0], wanted,
	                         (enum never_learned)request->convention, &report, &failure));
	must(run_table_write(&dynamics, common->output,
	                     request->for_people ? TABLE_ALIGNED : (enum table_format)request->format, &failure));
	return aggregate_report_gaps(&report, common->strict);
}

static int
metrics_run(void *context, struct portolan_error *error)
{
	const struct metrics_request *request = context;
	const struct common_options *common = &request->common;
	const struct export_request export = {
	        .form = request->format == METRICS_AUM           ? PUBLISHED_AUM
	                : request->format != METRICS_CARTOGRAPHY ? PUBLISHED_NOT
	                : request->with_ci                       ? PUBLISHED_CARTOGRAPHY_CI
	                                                         : PUBLISHED_CARTOGRAPHY,
	        .format = request->format == METRICS_AUM           ? TABLE_CSV
	                  : request->format == METRICS_CARTOGRAPHY ? TABLE_JSONL
	                                                           : (enum table_format)request->format,
	        .convention = (enum never_learned)request->convention,
	};
	const struct dynamics_request wanted = {
	        .measures = published_measures(export.form),
	        .gold = export.form == PUBLISHED_NOT,
	        .user = export.form == PUBLISHED_NOT,
	        .losses = export.form == PUBLISHED_NOT,
	        .signals = request->state ? state_signals() : 0,
	};
	struct dynamics dynamics;
	struct state state;
	int status;

	(void)error;
	if (common->query.minus)
		return metrics_write_difference(request, &wanted);
	must(dynamics_open(&dynamics, &common->query, common->operands[0], &wanted, &failure));
	if (export.form == PUBLISHED_AUM && !dynamics_measure_column(&dynamics, MEASURE_AUM))
		must(dynamics_no_measure(&dynamics, NULL, "aum", &failure));
	if (request->state)
		must(state_open(&state, &dynamics, request->state, &failure));
	if (request->for_people)
		metrics_show(&dynamics, request->state ? &state : NULL);
	else
		metrics_write(&dynamics, &export, common->output, request->state ? &state : NULL);
	status = dynamics_report(&dynamics, common->strict);
	if (request->state)
		must(state_finish(&state, &failure));
	dynamics_free(&dynamics);
	return status;
}

#define TO(member) .offset = offsetof(struct metrics_request, member)
static const struct option_spec options[] = {
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = format_names, .group = OPTION_GROUP_OUTPUT},
        {"include-ci", NULL, OPTION_FLAG, TO(with_ci), .group = OPTION_GROUP_OUTPUT},
        {"state", "FILE", OPTION_OUTPUT, TO(state), .excludes = "minus", .group = OPTION_GROUP_HOW},
        {"never-learned", "CONVENTION", OPTION_CHOICE, TO(convention), .choices = never_learned_names,
         .group = OPTION_GROUP_OUTPUT},
        {0},
};

static const struct metrics_request defaults = {.format = -1, .convention = -1};

extern const struct help help_metrics;

const struct command metrics_command = {
        .name = "metrics",
        .operands = "RUN",
        .help = &help_metrics,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_WINDOW | COMMON_MINUS | COMMON_STRICT |
                  COMMON_THREADS | COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct metrics_request),
        .defaults = &defaults,
        .check = metrics_check,
        .run = metrics_run,
};
