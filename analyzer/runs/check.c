/*
 * check.c: portolan check: tells the user whether a run, or every run of a store, is complete and undamaged.
 *
 * A child process does the work. LMDB trusts its pages, so a damaged file may end the process that reads it by a
 * signal. The parent then reports the store as damaged.
 */
#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "fingerprint/fingerprint.h"
#include "options/format.h"
#include "output/table.h"
#include "verdict/completeness.h"
#include "verdict/run_report.h"
#include "verdict/counters.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct check {
	struct store *store;
	struct report report;
	bool every; /* all runs, and the store's own counters */
	int status;
};

static const char *
check_verdict(const struct completeness *result)
{
	if (result->damaged)
		return "damaged";
	return result->findings.count ? "incomplete" : "complete";
}

/* Writes the verdict and its reasons as text, for people; does nothing in JSON. */
static void
check_say_verdict(struct report *report, const struct completeness *result)
{
	char line[FINDING_ROOM];

	report_line(report, "%s: %s\n", result->info.name, check_verdict(result));
	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		report_line(report, "  damaged: %s\n", result->damage[i] ? result->damage[i] : "");
	if (result->damaged > COMPLETENESS_LINES)
		report_line(report, "  damaged: %s more\n", NUMBER_GROUPED(result->damaged - COMPLETENESS_LINES));
	for (size_t i = 0; i < result->findings.count; i++) {
		verdict_print(&result->findings.found[i], line);
		report_line(report, "  incomplete: %s\n", line);
	}
}

/* Adds the reasons of the verdict to the JSON, for programs: each finding with its kind, its problem and its remedy. */
static void
check_add_findings(struct report *report, const struct findings *findings)
{
	struct finding_line {
		const char *kind, *problem, *remedy;
	} lines[VERDICT_KINDS];
	static const struct table_column columns[] = {{"kind", TABLE_TEXT, offsetof(struct finding_line, kind)},
	                                              {"problem", TABLE_TEXT, offsetof(struct finding_line, problem)},
	                                              {"remedy", TABLE_TEXT, offsetof(struct finding_line, remedy)}};
	char line[FINDING_ROOM];

	report_begin_list(report, "problems");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->found[i];
		const struct verdict_text *text = &verdict_texts[finding->kind];

		verdict_print(finding, line);
		report_text(report, NULL, line);
		lines[i] = (struct finding_line){text->name, finding->problem, text->remedy};
	}
	report_end(report);
	table_report(report, "findings", &TABLE_OF(columns, lines, findings->count));
}

static void
check_add_damage(struct report *report, const struct completeness *result)
{
	report_begin_list(report, "damage");
	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		report_text(report, NULL, result->damage[i] ? result->damage[i] : "");
	report_end(report);
}

static void
check_add_epochs(struct report *report, const struct completeness *result)
{
	static const char *const words[] = {
	        [EPOCH_ENDED] = "ended", [EPOCH_OPEN] = "open", [EPOCH_INTERRUPTED] = "interrupted"};
	static const struct table_column columns[] = {
	        {"epoch", TABLE_U32, offsetof(struct completeness_epoch, stored.epoch)},
	        {"observed", TABLE_U64, offsetof(struct completeness_epoch, observed)},
	        {"missing", TABLE_U64, offsetof(struct completeness_epoch, missing)},
	        {"state", TABLE_WORD, offsetof(struct completeness_epoch, state), .of = words},
	        {"folded", TABLE_U64, offsetof(struct completeness_epoch, stored.folded)},
	        {"in_log", TABLE_U64, offsetof(struct completeness_epoch, stored.waiting)},
	        {"folds", TABLE_U32, offsetof(struct completeness_epoch, stored.folds)}};

	table_report(report, "epochs", &TABLE_OF(columns, result->epochs, result->epoch_count));
}

/* Adds the fingerprint of the run's data; null where its records cannot be read. */
static void
check_add_fingerprint(struct report *report, struct store *store, const char *run)
{
	struct fingerprint fingerprint = {0};
	char text[FINGERPRINT_ROOM];

	fingerprint_read(store, run, &fingerprint, NULL);
	fingerprint_print(&fingerprint, text);
	report_text(report, "fingerprint", text[0] ? text : NULL);
}

/* Adds an object for a run. The caller ends it. */
static void
check_add_run(struct report *report, struct store *store, const struct completeness *result)
{
	const struct store_run_info *info = &result->info;

	check_say_verdict(report, result);
	report_begin(report, NULL);
	if (!report->as_text) {
		report_text(report, "run", info->name);
		report_text(report, "verdict", check_verdict(result));
		check_add_findings(report, &result->findings);
	}
	REPORT_WHOLES(report, {"records", result->records}, {"damaged", result->damaged});
	if (!report->as_text)
		check_add_damage(report, result);
	report_text(report, "state", info->state == STORE_RECORDING ? "recording" : "closed");
	REPORT_WHOLES(report, {"declared", info->declared}, {"examples", info->examples});
	check_add_fingerprint(report, store, info->name);
	REPORT_WHOLES(report, {"observations", info->observations}, {"missing", result->missing},
	              {"skipped_epochs", result->skipped_epochs}, {"replaced", info->replaced},
	              {"refused", info->refused}, {"changed_labels", info->changed_labels});
	report_begin(report, "sessions");
	REPORT_WHOLES(report, {"live", result->live}, {"closed", result->closed}, {"never_closed", result->lost});
	report_end(report);
	counters_report_clients(report, &result->clients);
	report_whole(report, "not_arrived", result->not_arrived);
	counters_report(report, &result->counters);
	check_add_epochs(report, result);
}

/* Adds "long_reader", the process that has been reading the store for so long that its file grows; null if there is
 * none. */
static void
check_add_reader(struct report *report, const struct store_long_reader *reader)
{
	if (!reader->process) {
		if (!report->as_text)
			report_null(report, "long_reader");
		return;
	}
	report_line(report,
	            "the file grows: process %ld reads a state of the store that is %s transactions old, and %s bytes "
	            "cannot be used again until it has finished\n",
	            reader->process, NUMBER_GROUPED(reader->behind), NUMBER_GROUPED(reader->bytes));
	if (report->as_text)
		return;
	report_begin(report, "long_reader");
	REPORT_WHOLES(report, {"process", (uint64_t)reader->process}, {"transactions_behind", reader->behind},
	              {"held_bytes", reader->bytes});
	report_end(report);
}

/* Says of how many examples the run keeps texts, and texts of how many were refused, if of any. */
static void
check_say_texts(struct report *report, struct store *store, uint32_t run)
{
	struct store_counters counters;
	struct store_texts texts;

	if (!report->as_text) {
		must(run_report_texts(report, store, run, &failure));
		return;
	}
	must(store_texts(store, run, &texts, &failure));
	must(store_counters(store, run, &counters, &failure));
	if (texts.examples > 0) {
		report_line(report, "  texts: %s example%s, %s bytes, in field%s", NUMBER_GROUPED(texts.examples),
		            texts.examples == 1 ? "" : "s", NUMBER_GROUPED(texts.bytes),
		            texts.field_count == 1 ? "" : "s");
		for (size_t f = 0; f < texts.field_count; f++)
			report_line(report, "%s %s", f > 0 ? "," : "", texts.fields[f]);
		report_line(report, "\n");
	}
	if (counters.texts_refused > 0)
		report_line(
		        report,
		        "  texts refused: of %s example%s, which may be logged again; the collector's log says why\n",
		        NUMBER_GROUPED(counters.texts_refused), counters.texts_refused == 1 ? "" : "s");
}

static void
check_one(struct check *check, const char *name)
{
	struct completeness result;
	uint32_t number;

	must(store_find_run(check->store, name, &number, &failure)); /* `failure` may name a damaged record */
	must(completeness_check(check->store, number, name, &result, &failure));
	if (result.damaged)
		check->status = STATUS_FAILED;
	else if (result.findings.count && check->status == STATUS_DONE)
		check->status = STATUS_INCOMPLETE;
	check_add_run(&check->report, check->store, &result);
	if (!result.damaged)
		check_say_texts(&check->report, check->store, number);
	if (check->every)
		report_end(&check->report);
	completeness_free(&result);
}

/* Reports all runs: in JSON as a list, in text one after the other. The store's own counters follow. */
static void
check_all(struct check *check)
{
	struct report *report = &check->report;
	struct store_counters counters;
	struct store_run_info *runs;
	size_t count;

	if (!report->as_text) {
		report_begin(report, NULL);
		report_begin_list(report, "runs");
	}
	must(store_runs(check->store, &runs, &count, &failure));
	for (size_t i = 0; i < count; i++)
		check_one(check, runs[i].name);
	free(runs);
	must(store_counters(check->store, 0, &counters, &failure));
	if (!report->as_text)
		report_end(report);
	report_line(report, "the store, removed runs included\n");
	report_begin(report, "store");
	counters_report(report, &counters);
	report_end(report);
}

/* Checks the run of this name; NULL: all runs. Returns the exit status. */
static int
check_store(const struct common_options *common, const char *name)
{
	struct check check = {.every = !name};
	struct report *report = &check.report;
	struct store_long_reader reader;

	must(store_open(common->query.store, &check.store, &failure));
	if (common->json)
		must(report_open(report, common->output, 2, &failure));
	else
		must(report_open_text(report, common->output, &failure));
	if (name)
		check_one(&check, name);
	else
		check_all(&check);
	store_long_reader(check.store, STORE_HELD_BACK, &reader);
	check_add_reader(report, &reader);
	if (name || !report->as_text)
		report_end(report);
	must(report_close(report, &failure));
	store_close(check.store);
	return check.status;
}

static int
check_await(pid_t child, const struct common_options *common)
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
	if (WTERMSIG(ended) == SIGPIPE) /* whoever reads the child's output has closed it */
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

	(void)error;
	if (child < 0)
		die("cannot start the check: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		die_through(NULL); /* command_end() is for the parent, once the child has ended */
		_exit(check_store(common, common->operand_count ? common->operands[0] : NULL));
	}
	return check_await(child, common);
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
