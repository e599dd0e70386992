/*
 * check.c: portolan check: is the run all there, and as it was written?
 *
 * The work is done in a process of its own: LMDB trusts its pages, so that reading a file damaged there may end with a
 * signal, which is an answer too.
 */
#include "check/counters.h"
#include "program/message.h"
#include "options/format.h"
#include "output/report.h"
#include "check_report.h"

#include <portolan/error.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct check {
	const struct common_options *common;
	struct store *store;
	struct output output;
	json_t *list; /* with --json: the reports so far */
	bool every;   /* all runs, and the store's own counters */
	int status;
};

static int
report(struct check *check, const struct completeness *result)
{
	json_t *run;

	if (result->damaged)
		check->status = STATUS_FAILED;
	else if (result->findings.count && check->status == STATUS_DONE)
		check->status = STATUS_INCOMPLETE;
	if (!check->common->json) {
		check_report_text(&check->output, result);
		return 0;
	}
	run = check_report_json(result);
	return run && json_array_append_new(check->list, run) == 0 ? 0 : -1;
}

static int
check_one(struct check *check, uint32_t run, const char *name, struct portolan_error *error)
{
	struct completeness result;
	int code = completeness_check(check->store, run, name, &result, error);

	if (code < 0)
		return code;
	if (report(check, &result) < 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the report on run '%s'", name);
	completeness_free(&result);
	return code;
}

static int
finish_report(struct check *check, struct portolan_error *error)
{
	struct store_long_reader reader;
	struct store_counters counters;
	json_t *whole = check->every ? NULL : json_incref(json_array_get(check->list, 0));
	int code = check->every ? store_counters(check->store, 0, &counters, error) : 0;

	if (code < 0)
		return code;
	store_long_reader(check->store, STORE_HELD_BACK, &reader);
	if (!check->common->json) {
		if (check->every)
			check_report_store(&check->output, &counters);
		check_report_reader(&check->output, &reader);
		return 0;
	}
	if (check->every)
		whole = json_pack("{s:O, s:{s:o}}", "runs", check->list, "store", "counters", counters_json(&counters));
	if (whole)
		json_object_set_new(whole, "long_reader", check_reader_json(&reader));
	report_write(&check->output, whole, 2);
	return 0;
}

/* One run by its name, or all there are. */
static int
check_runs(struct check *check, const char *name, struct portolan_error *error)
{
	struct store_run_info *runs;
	uint32_t number;
	size_t count;
	int code;

	if (name) {
		code = store_find_run(check->store, name, &number, error);
		return code < 0 ? code : check_one(check, number, name, error);
	}
	code = store_runs(check->store, &runs, &count, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < count && code >= 0; i++) {
		code = store_find_run(check->store, runs[i].name, &number, error); /* or which record is damaged */
		if (code >= 0)
			code = check_one(check, number, runs[i].name, error);
	}
	free(runs);
	return code;
}

static int
check_store(struct check *check, const char *name, struct portolan_error *error)
{
	int code = store_open(check->common->store, &check->store, error);

	if (code < 0)
		return code;
	code = output_open(&check->output, check->common->output, error);
	if (code >= 0) {
		code = check_runs(check, name, error);
		if (code >= 0)
			code = finish_report(check, error);
		if (code >= 0)
			code = output_finish(&check->output, error);
		else
			output_discard(&check->output);
	}
	store_close(check->store);
	return code;
}

/* In the process that reads. */
static int
check_here(const struct common_options *common, const char *name)
{
	struct check check = {.common = common, .every = !name, .list = json_array()};
	struct portolan_error error;
	int code = check_store(&check, name, &error);

	json_decref(check.list);
	if (code >= 0)
		return check.status;
	message_error("%s", error.message);
	return STATUS_FAILED;
}

static int
await(pid_t child, const struct common_options *common)
{
	int ended;

	while (waitpid(child, &ended, 0) < 0) {
		if (errno != EINTR) {
			message_error("cannot wait for the check: %s", strerror(errno));
			return STATUS_FAILED;
		}
	}
	if (WIFEXITED(ended))
		return WEXITSTATUS(ended);
	if (WTERMSIG(ended) == SIGPIPE) /* whoever read the report has seen enough */
		raise(SIGPIPE);
	if (WTERMSIG(ended) == SIGSEGV || WTERMSIG(ended) == SIGBUS || WTERMSIG(ended) == SIGABRT)
		message_error("store '%s': damaged: data.mdb cannot be read to its end (%s); restore it from a backup",
		              common->store, strsignal(WTERMSIG(ended)));
	else
		message_error("the check was ended: %s", strsignal(WTERMSIG(ended)));
	return STATUS_FAILED;
}

static int
check_request(void *context, struct portolan_error *error)
{
	(void)error;
	return format_choose_json(context, "text");
}

static int
run(void *context, struct portolan_error *error)
{
	const struct common_options *common = context;
	pid_t child = fork();

	if (child < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start the check: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		_exit(check_here(common, common->operand_count ? common->operands[0] : NULL));
	}
	return await(child, common);
}

const struct command check_command = {
        .name = "check",
        .operands = "[RUN]",
        .summary = "is a run complete, and the store sound?",
        .examples = "one run: what is missing, and whether its records are as they were written\n"
                    "portolan check snli/seed1\n"
                    "every run, before the store is archived\n"
                    "portolan check --json -o check.json\n",
        .help = "Reads every record of RUN (without one: of every run) and compares it with its checksum; counts what was observed per epoch, and what is missing; and reports what collection counted: observations received, repeated, replaced, refused and why; sessions, and what their clients say they left out, dropped or spooled; commits and how long they took. "
                "A run may be recorded meanwhile. "
                "A process that has read one state of the store for so long that 256 MiB cannot be used again, so that the file grows, is named.\n\n"
                "An epoch is ended, open (a live session has not ended it), or never ended: it holds observations of a client that neither ended it nor closed. "
                "Missing are examples not observed in an epoch: declared ones, or, where none were declared, those seen in other epochs. "
                "Epochs that are open miss nothing yet.\n\n"
                "What was recorded wrongly is found as well: ids or epoch numbers that do not tell observations apart (half of them or more were replaced, beyond what each session may log again), gold labels that changed, and sessions with different numbers of classes, as far as predictions show it. "
                "The commands that use the run warn of the first two. "
                "With --json each finding has a kind, a problem and a remedy.\n\n"
                "Exit status: 0 complete; 3 incomplete: still being recorded, anything missing, refused, dropped, not arrived, or recorded wrongly; 1 damaged: the records are named, restore them from a backup.",
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON,
        .operand = "run",
        .most = 1,
        .request_size = sizeof(struct common_options),
        .check = check_request,
        .run = run,
};
