/* check_report.c: the report on one run, for people and for programs. */
#include "check_report.h"

#include "base/number.h"
#include "output/rows.h"
#include "verdict/counters.h"

static const char *
verdict_of(const struct completeness *result)
{
	if (result->damaged)
		return "damaged";
	return result->findings.count ? "incomplete" : "complete";
}

/* For people, the verdict and its reasons come first. */
static void
say_verdict(struct report *report, const struct completeness *result)
{
	char line[FINDING_ROOM];

	report_line(report, "%s: %s\n", result->info.name, verdict_of(result));
	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		report_line(report, "  damaged: %s\n", result->damage[i] ? result->damage[i] : "");
	if (result->damaged > COMPLETENESS_LINES)
		report_line(report, "  damaged: %s more\n", NUMBER_GROUPED(result->damaged - COMPLETENESS_LINES));
	for (size_t i = 0; i < result->findings.count; i++) {
		verdict_print(&result->findings.found[i], line);
		report_line(report, "  incomplete: %s\n", line);
	}
}

/* The same for programs: the findings as lines, and by their kinds. */
static void
add_findings(struct report *report, const struct findings *findings)
{
	static const struct rows_column columns[] = {
	        {"kind", ROWS_TEXT}, {"problem", ROWS_TEXT}, {"remedy", ROWS_TEXT}};
	char line[FINDING_ROOM];
	struct rows rows;

	report_begin_list(report, "problems");
	for (size_t i = 0; i < findings->count; i++) {
		verdict_print(&findings->found[i], line);
		report_text(report, NULL, line);
	}
	report_end(report);
	rows_begin(&rows, report, "findings", columns, ROWS_COUNT(columns));
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->found[i];

		rows_text(&rows, verdict_texts[finding->kind].name);
		rows_text(&rows, finding->problem);
		rows_text(&rows, verdict_texts[finding->kind].remedy);
	}
	rows_end(&rows);
}

static void
add_damage(struct report *report, const struct completeness *result)
{
	report_begin_list(report, "damage");
	for (uint64_t i = 0; i < result->damaged && i < COMPLETENESS_LINES; i++)
		report_text(report, NULL, result->damage[i] ? result->damage[i] : "");
	report_end(report);
}

static void
add_epochs(struct report *report, const struct completeness *result)
{
	static const char *const words[] = {
	        [EPOCH_ENDED] = "ended", [EPOCH_OPEN] = "open", [EPOCH_INTERRUPTED] = "interrupted"};
	static const struct rows_column columns[] = {
	        {"epoch", ROWS_WHOLE},  {"observed", ROWS_WHOLE}, {"missing", ROWS_WHOLE}, {"state", ROWS_TEXT},
	        {"folded", ROWS_WHOLE}, {"in_log", ROWS_WHOLE},   {"folds", ROWS_WHOLE}};
	struct rows rows;

	rows_begin(&rows, report, "epochs", columns, ROWS_COUNT(columns));
	for (size_t e = 0; e < result->epoch_count; e++) {
		const struct completeness_epoch *epoch = &result->epochs[e];

		rows_whole(&rows, epoch->stored.epoch);
		rows_whole(&rows, epoch->observed);
		rows_whole(&rows, epoch->missing);
		rows_text(&rows, words[epoch->state]);
		rows_whole(&rows, epoch->stored.folded);
		rows_whole(&rows, epoch->stored.waiting);
		rows_whole(&rows, epoch->stored.folds);
	}
	rows_end(&rows);
}

void
check_report_run(struct report *report, const struct completeness *result)
{
	const struct store_run_info *info = &result->info;

	say_verdict(report, result);
	report_begin(report, NULL);
	if (!report->as_text) {
		report_text(report, "run", info->name);
		report_text(report, "verdict", verdict_of(result));
		add_findings(report, &result->findings);
	}
	REPORT_WHOLES(report, {"records", result->records}, {"damaged", result->damaged});
	if (!report->as_text)
		add_damage(report, result);
	report_text(report, "state", info->state == STORE_RECORDING ? "recording" : "closed");
	REPORT_WHOLES(report, {"declared", info->declared}, {"examples", info->examples});
	REPORT_WHOLES(report, {"observations", info->observations}, {"missing", result->missing},
	              {"skipped_epochs", result->skipped_epochs}, {"replaced", info->replaced},
	              {"refused", info->refused}, {"changed_labels", info->changed_labels});
	report_begin(report, "sessions");
	REPORT_WHOLES(report, {"live", result->live}, {"closed", result->closed}, {"never_closed", result->lost});
	report_end(report);
	counters_report_clients(report, &result->clients);
	report_whole(report, "not_arrived", result->not_arrived);
	counters_report(report, &result->counters);
	add_epochs(report, result);
}

void
check_report_reader(struct report *report, const struct store_long_reader *reader)
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
