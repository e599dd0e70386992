/* check_report.c: the report on one run, for people and for programs. */
#include "check_report.h"

#include "base/number.h"
#include "output/table.h"
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
