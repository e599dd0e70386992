/*
 * check.c: portolan check: is the run complete, and as it was written?
 *
 * The work is done in a process of its own: LMDB trusts its pages, so that reading a file damaged there may end with a
 * signal, which is an answer too.
 */
#include "base/message.h"
#include "check_report.h"
#include "options/format.h"
#include "verdict/counters.h"

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
	struct report report;
	bool every; /* all runs, and the store's own counters */
	int status;
};

static int
check_one(struct check *check, uint32_t run, const char *name, struct portolan_error *error)
{
	struct completeness result;
	int code = completeness_check(check->store, run, name, &result, error);

	if (code < 0)
		return code;
	if (result.damaged)
		check->status = STATUS_FAILED;
	else if (result.findings.count && check->status == STATUS_DONE)
		check->status = STATUS_INCOMPLETE;
	check_report_run(&check->report, &result);
	if (check->every)
		report_end(&check->report);
	completeness_free(&result);
	return 0;
}

/* All runs are a list in JSON, and one after the other in text. */
static void
begin_report(struct check *check)
{
	if (!check->every || check->report.as_text)
		return;
	report_begin(&check->report, NULL);
	report_begin_list(&check->report, "runs");
}

static int
end_report(struct check *check, struct portolan_error *error)
{
	struct report *report = &check->report;
	struct store_long_reader reader;
	struct store_counters counters;
	int code = check->every ? store_counters(check->store, 0, &counters, error) : 0;

	if (code < 0)
		return code;
	store_long_reader(check->store, STORE_HELD_BACK, &reader);
	if (check->every) {
		if (!report->as_text)
			report_end(report);
		report_line(report, "the store, removed runs included\n");
		report_begin(report, "store");
		counters_report(report, &counters);
		report_end(report);
	}
	check_report_reader(report, &reader);
	if (!check->every || !report->as_text)
		report_end(report);
	return 0;
}

/* One run by its name, or all runs. */
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
	int code = store_open(check->common->query.store, &check->store, error);

	if (code < 0)
		return code;
	code = check->common->json ? report_open(&check->report, check->common->output, 2, error)
	                           : report_open_text(&check->report, check->common->output, error);
	if (code >= 0) {
		begin_report(check);
		code = check_runs(check, name, error);
		if (code >= 0)
			code = end_report(check, error);
		if (code >= 0)
			code = report_close(&check->report, error);
		else
			report_discard(&check->report);
	}
	store_close(check->store);
	return code;
}

/* In the process that reads. */
static int
check_here(const struct common_options *common, const char *name)
{
	struct check check = {.common = common, .every = !name};
	struct portolan_error error;
	int code = check_store(&check, name, &error);

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
	if (WTERMSIG(ended) == SIGPIPE) /* the reader of the pipe needs no more */
		raise(SIGPIPE);
	if (WTERMSIG(ended) == SIGSEGV || WTERMSIG(ended) == SIGBUS || WTERMSIG(ended) == SIGABRT)
		message_error(
		        "store '%s': damaged: data.mdb cannot be read to its end (%s); restore it from a backup, or "
		        "copy what can be read: portolan salvage %s -o NEW",
		        common->query.store, strsignal(WTERMSIG(ended)), common->query.store);
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
check_run(void *context, struct portolan_error *error)
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

extern const struct help help_check;

const struct command check_command = {
        .name = "check",
        .operands = "[RUN]",
        .help = &help_check,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON,
        .operand = "run",
        .most = 1,
        .request_size = sizeof(struct common_options),
        .check = check_request,
        .run = check_run,
};
