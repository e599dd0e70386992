/* runs.c: portolan runs: the runs in the store, one line each. */
#include "check/completeness.h"
#include "check/counters.h"
#include "program/message.h"
#include "options/format.h"
#include "output/rows.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct runs_request {
	struct common_options common;
	int format; /* of the table; see common.json */
};

static const char *
state_name(const struct store_run_info *run)
{
	return run->state == STORE_DAMAGED ? "damaged" : run->state == STORE_RECORDING ? "recording" : "closed";
}

static const char *
mode_name(const struct store_run_info *run)
{
	return run->mode == PORTOLAN_TRAIN_FORWARD ? "train-forward" : "epoch-end";
}

/* ISO 8601, UTC. */
static void
print_time(int64_t seconds, char text[32])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!gmtime_r(&when, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		text[0] = '\0';
}

/* Of a damaged one only the name is known. */
static int
write_table(const struct runs_request *request, const struct store_run_info *runs, size_t count,
            struct portolan_error *error)
{
	static const struct rows_column columns[] = {
	        {"name", ROWS_TEXT},  {"examples", ROWS_WHOLE}, {"epochs", ROWS_WHOLE}, {"observations", ROWS_WHOLE},
	        {"state", ROWS_TEXT}, {"mode", ROWS_TEXT},      {"created", ROWS_TEXT}};
	struct rows rows;
	int code = rows_open(&rows, request->common.output, (enum rows_format)request->format, columns,
	                     ROWS_COUNT(columns), error);

	if (code < 0)
		return code;
	for (size_t i = 0; i < count; i++) {
		const struct store_run_info *run = &runs[i];
		bool damaged = run->state == STORE_DAMAGED;
		const uint64_t numbers[] = {run->examples, run->epochs, run->observations};
		char created[32];

		rows_text(&rows, run->name);
		for (size_t n = 0; n < 3; n++) {
			if (damaged)
				rows_empty(&rows);
			else
				rows_whole(&rows, numbers[n]);
		}
		print_time(run->created, created);
		rows_text(&rows, state_name(run));
		rows_text(&rows, damaged ? NULL : mode_name(run));
		rows_text(&rows, damaged ? NULL : created);
	}
	return rows_close(&rows, error);
}

/* What was counted while a run was recorded. */
static int
read_counters(struct store *store, uint32_t run, struct completeness *sessions, struct store_counters *counters,
              struct portolan_error *error)
{
	int code = store_counters(store, run, counters, error);

	*sessions = (struct completeness){0};
	if (code >= 0)
		code = store_sessions(store, run, &sessions->sessions, &sessions->session_count, error);
	if (code < 0)
		return code;
	completeness_sum_sessions(sessions);
	free(sessions->sessions);
	return code;
}

static void
report_run(struct report *report, const struct store_run_info *run, const struct completeness *sessions,
           const struct store_counters *counters)
{
	char created[32];

	print_time(run->created, created);
	REPORT_WHOLES(report, {"examples", run->examples}, {"epochs", run->epochs},
	              {"observations", run->observations});
	report_text(report, "state", state_name(run));
	report_text(report, "mode", mode_name(run));
	report_text(report, "created", created);
	report_text(report, "group", run->group);
	REPORT_WHOLES(report, {"declared", run->declared}, {"replaced", run->replaced}, {"refused", run->refused},
	              {"changed_labels", run->changed_labels});
	report_begin(report, "sessions");
	REPORT_WHOLES(report, {"live", sessions->live}, {"closed", sessions->closed}, {"never_closed", sessions->lost});
	report_end(report);
	counters_report_clients(report, &sessions->clients);
	counters_report(report, counters);
}

/* What is found out to be damaged on the way is marked so. */
static int
add_run(struct report *report, struct store *store, struct store_run_info *run, struct portolan_error *error)
{
	struct completeness sessions;
	struct store_counters counters;
	int code = run->state == STORE_DAMAGED ? STORE_E_CORRUPT
	                                       : read_counters(store, run->number, &sessions, &counters, error);

	if (code == STORE_E_NO_RUN) /* removed just now */
		return 0;
	if (code < 0 && code != STORE_E_CORRUPT)
		return code;
	report_begin(report, NULL);
	report_text(report, "name", run->name);
	if (code == STORE_E_CORRUPT) {
		run->state = STORE_DAMAGED;
		report_text(report, "state", state_name(run));
	} else {
		report_run(report, run, &sessions, &counters);
	}
	report_end(report);
	return 0;
}

static int
write_report(struct store *store, const char *path, struct store_run_info *runs, size_t count,
             struct portolan_error *error)
{
	struct report report;
	int code = report_open(&report, path, 2, error);

	if (code < 0)
		return code;
	report_begin_list(&report, NULL);
	for (size_t i = 0; i < count && code >= 0; i++)
		code = add_run(&report, store, &runs[i], error);
	report_end(&report);
	if (code >= 0)
		return report_close(&report, error);
	report_discard(&report);
	return code;
}

/* Says so; how many are damaged. */
static int
count_damaged(const struct store_run_info *runs, size_t count)
{
	int damaged = 0;

	for (size_t i = 0; i < count; i++) {
		if (runs[i].state != STORE_DAMAGED)
			continue;
		damaged++;
		message_error(
		        "run '%s' is damaged: `portolan check` says where; restore it from a backup, or remove it",
		        runs[i].name);
	}
	return damaged;
}

/* How many of them are damaged. */
static int
list_runs(const struct runs_request *request, struct portolan_error *error)
{
	const struct common_options *common = &request->common;
	struct store_run_info *runs;
	struct store *store;
	size_t count;
	int code = store_open(common->store, &store, error);

	if (code < 0)
		return code;
	code = store_runs(store, &runs, &count, error);
	if (code >= 0) {
		code = common->json ? write_report(store, common->output, runs, count, error)
		                    : write_table(request, runs, count, error);
		if (code >= 0)
			code = count_damaged(runs, count);
		free(runs);
	}
	store_close(store);
	return code;
}

static int
check(void *context, struct portolan_error *error)
{
	struct runs_request *request = context;

	(void)error;
	return format_choose_rows(&request->common, &request->format);
}

static int
run(void *context, struct portolan_error *error)
{
	int damaged = list_runs(context, error);

	return damaged > 0 ? STATUS_FAILED : damaged;
}

const struct command runs_command = {
        .name = "runs",
        .operands = "",
        .summary = "list the runs in the store",
        .examples = "the runs, as a table\n"
                    "portolan runs\n"
                    "as JSON, of another store\n"
                    "portolan runs --json --store /data/portolan-store\n",
        .help = "Prints one line per run, as CSV or what FILE ends with (tsv, jsonl, npy; json is the report of --json), on a terminal in aligned columns: name,examples,epochs,observations,state,mode,created. state is recording (a session is live), closed, or damaged: its records cannot be read, the other columns are empty, and the exit status is 1; mode is epoch-end or train-forward; created is UTC.\n\n"
                "With --json also what was counted while it was recorded: observations received, repeated, replaced, refused and why; sessions, and what their clients say they dropped or spooled; commits, how long they took, and how many took from 2^b to 2^(b+1) − 1 µs (by_log2_us).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_STRICT,
        .request_size = sizeof(struct runs_request),
        .check = check,
        .run = run,
};
