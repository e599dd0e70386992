/* dynamics.c: portolan dynamics: every observation of a run, as it was recorded. */
#include "measures/dynamics.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"
#include "contents.h"
#include "options/format.h"
#include "output/output.h"
#include "write.h"

#include <portolan/error.h>

#include <stdlib.h>

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
check(void *context, struct portolan_error *error)
{
	struct dynamics_options *request = context;
	const struct common_options *common = &request->common;

	(void)error;
	if (format_choose(common, rows_format_names, &request->format) != 0)
		return STATUS_USAGE;
	if (format_is_for_people(common))
		request->format = ROWS_ALIGNED;
	if (request->id_bytes && request->format != ROWS_NPY)
		return options_wrong(common, "--id-bytes goes with --format npy; the others have ids as text");
	return format_of_table(common, "--sessions", request->sessions, ROWS_CSV, &request->sessions_format);
}

static int
write_contents(const struct dynamics_options *request, struct dynamics *run, struct portolan_error *error)
{
	struct report report;
	int code = report_open(&report, request->common.output, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	code = contents_report(&report, run, error);
	report_end(&report);
	if (code >= 0)
		return report_close(&report, error);
	report_discard(&report);
	return code;
}

/* Written before the observations, so that a program that reads these from a pipe knows the sessions by then. */
static int
write_sessions(const struct dynamics_options *request, const struct dynamics *run, struct portolan_error *error)
{
	static const struct rows_column columns[] = {{"session_number", ROWS_WHOLE},
	                                             {"session", ROWS_TEXT},
	                                             {"session_started", ROWS_WHOLE},
	                                             {"rank", ROWS_WHOLE}};
	static const char *const session[] = {"session"};
	const struct text_extent extent = {0};
	struct layout layout;
	struct rows rows;
	int code = layout_init(&layout, run, session, 1, LAYOUT_INTEGERS, &extent, error);

	if (code >= 0)
		code = rows_open(&rows, request->sessions, (enum rows_format)request->sessions_format, columns,
		                 ROWS_COUNT(columns), error);
	for (size_t s = 0; code >= 0 && s < layout.session_count; s++) {
		rows_whole(&rows, s);
		rows_bytes(&rows, layout.sessions[s].digits, LAYOUT_SESSION_DIGITS);
		rows_whole(&rows, layout.sessions[s].started);
		rows_whole(&rows, layout.sessions[s].rank);
	}
	layout_free(&layout);
	return code < 0 ? code : rows_close(&rows, error);
}

static int
write_observations(struct dynamics *run, const struct observations_request *request, const char *path,
                   struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = request->format == ROWS_NPY ? rows_check_npy(&output, error) : 0;
	if (code >= 0)
		code = observations_write(run, request, &output, error);
	if (code < 0) {
		output_discard(&output);
		return code;
	}
	return output_finish(&output, error);
}

/* Warns of gaps, without the warnings about measures of dynamics_report(). `listed`: examples that are not in the list
 * are not missing. */
static int
report(struct dynamics *run, bool listed, bool strict)
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
write_listed(const struct dynamics_options *request, struct dynamics *run, struct observations_request *wanted,
             struct portolan_error *error)
{
	struct places_list list;
	int code = places_read(&list, request->ids, run->info->id_kind, error), status;

	if (code < 0)
		return code;
	wanted->list = &list;
	wanted->found = array_new(list.count, 1, "marks", error);
	code = wanted->found ? write_observations(run, wanted, request->common.output, error) : PORTOLAN_E_MEMORY;
	if (code >= 0) {
		status = report(run, true, request->common.strict);
		code = places_warn(&list, run, wanted->found) > 0 ? STATUS_INCOMPLETE : status;
	}
	array_free(wanted->found);
	places_free(&list);
	return code;
}

static int
write_wanted(const struct dynamics_options *request, struct dynamics *run, struct portolan_error *error)
{
	struct observations_request wanted = {.format = (enum rows_format)request->format,
	                                      .names = request->names,
	                                      .name_count = request->name_count,
	                                      .id_bytes = request->id_bytes};
	int code;

	if (request->ids)
		return write_listed(request, run, &wanted, error);
	code = write_observations(run, &wanted, request->common.output, error);
	return code < 0 ? code : report(run, false, request->common.strict);
}

static int
run(void *context, struct portolan_error *error)
{
	const struct dynamics_options *request = context;
	const struct dynamics_request wanted = {.signals = LAYOUT_COLUMNS};
	struct dynamics dynamics;
	int code = dynamics_open(&dynamics, &request->common.query, request->common.operands[0], &wanted, error);

	if (code < 0)
		return code;
	if (request->contents)
		code = write_contents(request, &dynamics, error);
	else if (request->sessions)
		code = write_sessions(request, &dynamics, error);
	if (code >= 0 && !request->contents)
		code = write_wanted(request, &dynamics, error);
	dynamics_free(&dynamics);
	return code;
}

#define TO(member) .offset = offsetof(struct dynamics_options, member)
static const struct option_spec options[] = {
        {"format", "FORMAT", OPTION_CHOICE, TO(format), 'f', .choices = rows_format_names, .group = OPTION_GROUP_OUTPUT,
         .help = "The format: csv, tsv, jsonl or npy. Default: what FILE ends with, else csv; on a terminal aligned columns, of a long table its ends."},
        {"ids", "FILE", OPTION_INPUT, TO(ids),
         .help = "Only the examples whose ids are in FILE: one a line, or a NumPy array (.npy); - is standard input. "
                 "Ids that were not observed are warned of, and the exit status is then 3."},
        {"columns", "NAME[,NAME]", OPTION_TEXT, .take = take_columns,
         .help = "Which columns follow id and epoch, in this order. Default: every signal that was recorded. On request also gold (the label, as it was known last), "
                 "and where the observation came from: session_started (ns since 1970), rank, session (32 hexadecimal digits), or, shorter, session_number (see --sessions). "
                 "A column of yours that is named as one of these is called user_NAME."},
        {"id-bytes", NULL, OPTION_FLAG, TO(id_bytes), .group = OPTION_GROUP_OUTPUT,
         .help = "Write ids that are text to npy as UTF-8 bytes (NumPy's S), a quarter of the size, instead of characters (U)."},
        {"sessions", "FILE", OPTION_OUTPUT, TO(sessions),
         .help = "Also write the run's sessions to FILE (.csv, .tsv, .jsonl, .npy), before the observations: session_number, session, session_started, rank."},
        {"contents", NULL, OPTION_FLAG, TO(contents), .excludes = "format ids columns id-bytes sessions",
         .group = OPTION_GROUP_OUTPUT,
         .help = "Instead of the observations print what there is of them, as JSON: the ids of store and run, the columns, and for each epoch how many observations it has, "
                 "and a state: a text that changes when observations of the epoch come, or its examples' labels change."},
        {0},
};
#undef TO

static const struct dynamics_options defaults = {.format = -1, .sessions_format = -1};

const struct command dynamics_command = {
        .name = "dynamics",
        .operands = "RUN",
        .summary = "print every observation as it was recorded",
        .examples = "all observations, for pandas\n"
                    "portolan dynamics snli/seed1 -o dynamics.csv\n"
                    "for numpy.load(), without the first epoch\n"
                    "portolan dynamics snli/seed1 --epochs 1: -o dynamics.npy\n"
                    "the gold probabilities of a selection\n"
                    "portolan dynamics snli/seed1 --ids subset.txt --columns gold_prob -o subset.csv\n",
        .help = "Prints one line per observation, by epoch, then by ascending id: id, epoch, gold_prob, correct (0 or 1), then, as far as they were recorded, margin, other_sq, entropy, max_prob, predicted, and your own columns. "
                "An example has no line for an epoch in which it was not observed. Of two observations of an example in an epoch, only the later is printed.\n\n"
                "Numbers are as short as can be while reading back exactly. A signal that is absent is nothing in csv and tsv, null in jsonl, and in npy NaN, or -1 for predicted and gold.\n\n"
                "npy is one structured array: id u8, or text as wide as the longest id; epoch u4; correct bool; predicted and gold i4; session_number and rank u4; session_started u8; session S32; all others f4. It may go to a pipe.\n\n"
                "Where the ids were declared, or first logged in their order, rows are written as they are read, and nothing is held. "
                "Otherwise --max-memory holds the order of the ids, and of an epoch as much as there is room for; the epoch is read as often as that takes.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STRICT | COMMON_THREADS | COMMON_MEMORY,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct dynamics_options),
        .defaults = &defaults,
        .check = check,
        .run = run,
};
