/* runs.c: portolan runs: prints a table with one line for each run in the store: its name and state, and how many
 * examples, epochs and observations it has. */
#include "base/cleanup.h"
#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "listed.h"
#include "options/format.h"
#include "output/table.h"
#include "verdict/run_report.h"

#include <portolan/store.h>

#include <stdlib.h>

struct runs_request {
	struct common_options common;
	int format; /* of the table; see common.json */
};

/* A run's line. Of a damaged run only name and state are known. */
struct runs_line {
	const char *name, *state, *mode, *created, *kind;
	int64_t examples, epochs, observations; /* -1: not known */
	int64_t texts;                          /* examples of which the run keeps texts */
	char time[32];
};

static const struct table_column runs_columns[] = {
        {"name", TABLE_TEXT, offsetof(struct runs_line, name)},
        {"examples", TABLE_I64, offsetof(struct runs_line, examples)},
        {"epochs", TABLE_I64, offsetof(struct runs_line, epochs)},
        {"observations", TABLE_I64, offsetof(struct runs_line, observations)},
        {"state", TABLE_TEXT, offsetof(struct runs_line, state)},
        {"mode", TABLE_TEXT, offsetof(struct runs_line, mode)},
        {"created", TABLE_TEXT, offsetof(struct runs_line, created)},
        {"kind", TABLE_TEXT, offsetof(struct runs_line, kind)},
        {"texts", TABLE_I64, offsetof(struct runs_line, texts)}};

/* Reads of how many examples a run keeps texts; what cannot be read, `check` says. */
static int64_t
runs_texts(struct store *store, uint32_t run)
{
	struct store_texts texts;
	struct portolan_error error;

	return store_texts(store, run, &texts, &error) < 0 ? 0 : (int64_t)texts.examples;
}

static void
runs_write(const struct runs_request *request, struct store *store, const struct store_run_info *runs, size_t count)
{
	CLEANUP_FREE struct runs_line *lines = memory_new(count, sizeof(*lines));
	struct table table = TABLE_OF(runs_columns, lines, count);
	bool any_texts = false;

	for (size_t i = 0; i < count; i++) {
		const struct store_run_info *run = &runs[i];
		struct runs_line *line = &lines[i];

		*line = (struct runs_line){.name = run->name,
		                           .state = run_state_name(run),
		                           .examples = -1,
		                           .epochs = -1,
		                           .observations = -1};
		if (run->state == STORE_DAMAGED)
			continue;
		run_time(run->created, line->time);
		line->created = line->time;
		line->mode = run_mode_name(run);
		line->kind = run_kind_name(run);
		line->examples = (int64_t)run->examples;
		line->epochs = (int64_t)run->epochs;
		line->observations = (int64_t)run->observations;
		line->texts = runs_texts(store, run->number);
		any_texts |= line->texts > 0;
	}
	table.column_count -= !any_texts; /* the column is there for who keeps texts */
	must(table_write(&table, request->common.output, (enum table_format)request->format, &failure));
}

static void
runs_report(struct store *store, const char *path, const struct listed *listed, struct store_run_info *runs,
            size_t count)
{
	struct report report;

	must(report_open(&report, path, 2, &failure));
	report_begin_list(&report, NULL);
	for (size_t i = 0; i < count; i++)
		must(run_report(&report, store, &runs[i], listed_find(listed, runs[i].number), &failure));
	report_end(&report);
	must(report_close(&report, &failure));
}

/* Prints an error for each damaged run; returns how many there are. */
static int
runs_count_damaged(const struct store_run_info *runs, size_t count)
{
	int damaged = 0;

	for (size_t i = 0; i < count; i++) {
		if (runs[i].state != STORE_DAMAGED)
			continue;
		damaged++;
		message_error(
		        "run '%s' is damaged: `portolan check` says where; restore it from a backup, remove it, or portolan salvage what can be read",
		        runs[i].name);
	}
	return damaged;
}

static int
runs_check(void *context, struct portolan_error *error)
{
	struct runs_request *request = context;

	(void)error;
	return format_choose_rows(&request->common, &request->format);
}

static int
runs_run(void *context, struct portolan_error *error)
{
	const struct runs_request *request = context;
	const struct common_options *common = &request->common;
	struct store_run_info *runs;
	CLEANUP(listed_free) struct listed listed = {0};
	struct store *store;
	size_t count;
	int damaged;

	(void)error;
	if (common->json)
		listed = listed_read(common->query.store);
	must(store_open(common->query.store, &store, &failure));
	must(store_runs(store, &runs, &count, &failure));
	if (common->json)
		runs_report(store, common->output, &listed, runs, count);
	else
		runs_write(request, store, runs, count);
	damaged = runs_count_damaged(runs, count);
	free(runs);
	store_close(store);
	return damaged > 0 ? STATUS_FAILED : STATUS_DONE;
}

extern const struct help help_runs;

const struct command runs_command = {
        .name = "runs",
        .operands = "",
        .help = &help_runs,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_STRICT,
        .request_size = sizeof(struct runs_request),
        .check = runs_check,
        .run = runs_run,
};
