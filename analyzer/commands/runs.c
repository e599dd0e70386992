/* runs.c: portolan runs: the runs in the store, one line each. */
#include "check/completeness.h"
#include "check/counters.h"
#include "program/message.h"
#include "options/format.h"
#include "output/report.h"
#include "output/rows.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <jansson.h>
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
	int code = rows_open(&rows, request->common.output, (enum rows_format)request->format, columns, 7, error);

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

static json_t *
run_as_json(const struct store_run_info *run)
{
	char created[32];

	if (run->state == STORE_DAMAGED)
		return json_pack("{s:s, s:s}", "name", run->name, "state", state_name(run));
	print_time(run->created, created);
	return json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "name", run->name, "examples",
	                 (json_int_t)run->examples, "epochs", (json_int_t)run->epochs, "observations",
	                 (json_int_t)run->observations, "state", state_name(run), "mode", mode_name(run), "created",
	                 created, "group", run->group, "declared", (json_int_t)run->declared, "replaced",
	                 (json_int_t)run->replaced, "refused", (json_int_t)run->refused, "changed_labels",
	                 (json_int_t)run->changed_labels);
}

/* Adds what was counted while the run was recorded. */
static int
add_counters(struct store *store, uint32_t run, json_t *to, struct portolan_error *error)
{
	struct completeness sessions = {0};
	struct store_counters counters;
	json_t *counted;
	int code = store_counters(store, run, &counters, error);

	if (code >= 0)
		code = store_sessions(store, run, &sessions.sessions, &sessions.session_count, error);
	if (code < 0)
		return code;
	completeness_sum_sessions(&sessions);
	free(sessions.sessions);
	counted = json_pack("{s:{s:I, s:I, s:I}, s:o, s:o}", "sessions", "live", (json_int_t)sessions.live, "closed",
	                    (json_int_t)sessions.closed, "never_closed", (json_int_t)sessions.lost, "clients",
	                    counters_client_json(&sessions.clients), "counters", counters_json(&counters));
	if (!counted || json_object_update(to, counted) < 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory listing the runs");
	json_decref(counted);
	return code;
}

/* What is found out to be damaged on the way is marked so. */
static int
write_json(struct store *store, const char *path, struct store_run_info *runs, size_t count,
           struct portolan_error *error)
{
	json_t *list = json_array();
	int code = 0;

	for (size_t i = 0; i < count && code >= 0; i++) {
		json_t *run = run_as_json(&runs[i]);

		json_array_append_new(list, run);
		if (runs[i].state == STORE_DAMAGED)
			continue;
		code = add_counters(store, runs[i].number, run, error);
		if (code == STORE_E_NO_RUN) /* removed just now */
			code = json_array_remove(list, json_array_size(list) - 1);
		if (code == STORE_E_CORRUPT) {
			runs[i].state = STORE_DAMAGED;
			code = json_array_set_new(list, json_array_size(list) - 1, run_as_json(&runs[i]));
		}
	}
	if (code >= 0)
		return report_print(path, list, 2, error);
	json_decref(list);
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
		code = common->json ? write_json(store, common->output, runs, count, error)
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
                    "portolan runs | column -s, -t\n"
                    "as JSON, of another store\n"
                    "portolan runs --json --store /data/portolan-store\n",
        .help = "Prints one line per run, as CSV or what FILE ends with (tsv, jsonl, npy; json is the report of --json): name,examples,epochs,observations,state,mode,created. state is recording (a session is live), closed, or damaged: its records cannot be read, the other columns are empty, and the exit status is 1; mode is epoch-end or train-forward; created is UTC.\n\n"
                "With --json also what was counted while it was recorded: observations received, repeated, replaced, refused and why; sessions, and what their clients say they dropped or spooled; commits, how long they took, and how many took from 2^b to 2^(b+1) − 1 µs (by_log2_us).",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_STRICT,
        .request_size = sizeof(struct runs_request),
        .check = check,
        .run = run,
};
