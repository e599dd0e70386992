/* dynamics.c: the command `portolan dynamics`, which prints every observation of a run as it was recorded: its options,
 * and what runs it. */
#include "measures/dynamics.h"

#include "base/message.h"
#include "base/number.h"
#include "contents.h"
#include "die/die.h"
#include "die/memory.h"
#include "options/format.h"
#include "output/output.h"
#include "write.h"

struct dynamics_options {
	struct common_options common;
	int format; /* −1: not given */
	const char *ids;
	const char *names[LAYOUT_NAMES_MAX];
	size_t name_count;
	bool id_bytes, contents;
	const char *sessions;
	int sessions_format;
};

static int
take_columns(void *context, char *text)
{
	struct dynamics_options *request = context;

	request->name_count = options_split(text, LAYOUT_NAMES_MAX, request->names);
	if (request->name_count > 0)
		return 0;
	return options_wrong(&request->common, "--columns needs names with commas between them: margin,entropy");
}

static int
observations_check(void *context, struct portolan_error *error)
{
	struct dynamics_options *request = context;
	const struct common_options *common = &request->common;

	(void)error;
	if (format_choose(common, table_format_names, &request->format) != 0)
		return STATUS_USAGE;
	if (format_is_for_people(common))
		request->format = TABLE_ALIGNED;
	if (request->id_bytes && request->format != TABLE_NPY)
		return options_wrong(common, "--id-bytes goes with --format npy; the others have ids as text");
	return format_of_table(common, "--sessions", request->sessions, TABLE_CSV, &request->sessions_format);
}

static void
observations_write_contents(const struct dynamics_options *request, struct dynamics *run)
{
	struct report report;

	must(report_open(&report, request->common.output, 2, &failure));
	report_begin(&report, NULL);
	contents_report(&report, run);
	report_end(&report);
	must(report_close(&report, &failure));
}

/* Writes the sessions before the observations: a program that reads the observations from a pipe then knows their
 * sessions. */
static void
observations_write_sessions(const struct dynamics_options *request, const struct dynamics *run)
{
	static const char *const session[] = {"session"};
	struct layout layout;

	layout_init(&layout, run, session, 1);
	must(table_write(&TABLE_OF(layout_session_columns, layout.sessions, layout.session_count), request->sessions,
	                 (enum table_format)request->sessions_format, &failure));
	layout_free(&layout);
}

static void
observations_write_to(struct dynamics *run, const struct observations_request *request, const char *path)
{
	struct output output;

	must(output_open(&output, path, &failure));
	if (request->format == TABLE_NPY)
		must(table_check_npy(&output, &failure));
	observations_write(run, request, &output);
	must(output_finish(&output, &failure));
}

/* Warns of gaps, in place of dynamics_report(), whose warning speaks of measures. `listed`: the user has listed
 * examples; others are not missing. */
static int
observations_warn(struct dynamics *run, bool listed, bool strict)
{
	uint64_t gaps = run->gaps;
	int status;

	if (gaps > 0)
		message_warning(
		        "not observed in all %zu epochs: %s of %s examples; they have no row where they were not",
		        run->epoch_count, NUMBER_GROUPED(gaps), NUMBER_GROUPED(run->count));
	run->gaps = 0;
	status = listed ? dynamics_report_run(run, strict) : dynamics_report(run, strict);
	return gaps > 0 && strict ? STATUS_INCOMPLETE : status;
}

/* Returns STATUS_INCOMPLETE if some listed examples were not observed. */
static int
observations_write_listed(const struct dynamics_options *request, struct dynamics *run,
                          struct observations_request *wanted)
{
	struct places_list list;
	int status;

	must(places_read(&list, request->ids, run->info->id_kind, &failure));
	wanted->list = &list;
	wanted->found = memory_array(list.count, 1, "marks");
	observations_write_to(run, wanted, request->common.output);
	status = observations_warn(run, true, request->common.strict);
	if (places_warn(&list, run, wanted->found) > 0)
		status = STATUS_INCOMPLETE;
	array_free(wanted->found);
	places_free(&list);
	return status;
}

static int
observations_write_wanted(const struct dynamics_options *request, struct dynamics *run)
{
	struct observations_request wanted = {.format = (enum table_format)request->format,
	                                      .names = request->names,
	                                      .name_count = request->name_count,
	                                      .id_bytes = request->id_bytes};

	if (request->ids)
		return observations_write_listed(request, run, &wanted);
	observations_write_to(run, &wanted, request->common.output);
	return observations_warn(run, false, request->common.strict);
}

static int
observations_run(void *context, struct portolan_error *error)
{
	const struct dynamics_options *request = context;
	const struct dynamics_request wanted = {.signals = LAYOUT_COLUMNS, .losses = true};
	struct dynamics dynamics;
	int status = STATUS_DONE;

	(void)error;
	must(dynamics_open(&dynamics, &request->common.query, request->common.operands[0], &wanted, &failure));
	if (request->sessions)
		observations_write_sessions(request, &dynamics);
	if (request->contents)
		observations_write_contents(request, &dynamics);
	else
		status = observations_write_wanted(request, &dynamics);
	dynamics_free(&dynamics);
	return status;
}

#define TO(member) .offset = offsetof(struct dynamics_options, member)
static const struct option_spec options[] = {
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = table_format_names,
         .group = OPTION_GROUP_OUTPUT},
        {"ids", "FILE", OPTION_INPUT, TO(ids)},
        {"columns", "NAME[,NAME]", OPTION_TEXT, .take = take_columns},
        {"id-bytes", NULL, OPTION_FLAG, TO(id_bytes), .group = OPTION_GROUP_OUTPUT},
        {"sessions", "FILE", OPTION_OUTPUT, TO(sessions)},
        {"contents", NULL, OPTION_FLAG, TO(contents), .excludes = "format ids columns id-bytes sessions",
         .group = OPTION_GROUP_OUTPUT},
        {0},
};
#undef TO

static const struct dynamics_options defaults = {.format = -1, .sessions_format = -1};

extern const struct help help_dynamics;

const struct command dynamics_command = {
        .name = "dynamics",
        .operands = "RUN",
        .help = &help_dynamics,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT | COMMON_THREADS | COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct dynamics_options),
        .defaults = &defaults,
        .check = observations_check,
        .run = observations_run,
};
