/* frame_json.c: a look as a JSON object. */
#include "frame.h"

#include "output/table.h"

#include "verdict/counters.h"

static const char *const state_words[] = {
        [LIVE_NO_STORE] = "waiting",    [LIVE_NO_RUN] = "waiting", [LIVE_NOTHING] = "recording",
        [LIVE_RECORDING] = "recording", [LIVE_CLOSED] = "closed",
};

static void
report_epochs(struct report *report, const struct live_view *view)
{
	static const struct table_column columns[] = {{"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
	                                              {"observed", TABLE_U64, offsetof(struct tally_epoch, observed)},
	                                              {"accuracy", TABLE_REAL_OF, .real = tally_accuracy},
	                                              {"confidence", TABLE_REAL_OF, .real = tally_confidence},
	                                              {"mean_loss", TABLE_REAL_OF, .real = tally_mean_loss},
	                                              {"forgotten", TABLE_U64, offsetof(struct tally_epoch, forgotten)},
	                                              {"learned", TABLE_U64, offsetof(struct tally_epoch, learned)}};

	table_report(report, "epochs", &TABLE_OF(columns, view->epochs, view->epoch_count));
}

static void
report_warnings(struct report *report, const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);

	report_begin_list(report, "warnings");
	for (unsigned i = 0; i < count; i++)
		report_text(report, NULL, warnings[i]);
	report_end(report);
}

static void
report_run(struct report *report, const struct live_view *view)
{
	const struct store_run_info *info = &view->info;

	report_whole(report, "declared", info->declared);
	if (view->expected)
		report_whole(report, "expected", view->expected);
	else
		report_null(report, "expected");
	REPORT_WHOLES(report, {"examples", view->counts.examples}, {"observations", info->observations},
	              {"replaced", info->replaced}, {"refused", info->refused});
	report_epochs(report, view);
	report_begin(report, "forgetting");
	REPORT_WHOLES(report, {"events", view->events}, {"examples", view->counts.forgotten},
	              {"not_learned", view->counts.never_learned});
	report_end(report);
	report_begin(report, "sessions");
	REPORT_WHOLES(report, {"total", view->sessions}, {"live", view->live_sessions},
	              {"never_closed", view->lost_sessions});
	report_end(report);
	counters_report_clients(report, &view->clients);
	counters_report(report, &view->counters);
	report_flag(report, "collector", view->collector);
}

void
frame_json(struct report *report, const struct live_view *view, const struct frame_moment *moment)
{
	report_begin(report, NULL);
	report_whole(report, "time", (uint64_t)moment->time);
	report_text(report, "run", moment->run);
	report_text(report, "state", state_words[view->state]);
	report_real(report, "rate", moment->rate);
	report_real(report, "idle_seconds", moment->idle);
	report_warnings(report, view, moment);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		report_text(report, "why", moment->trouble ? moment->trouble : view->why);
	else
		report_run(report, view);
	report_end(report);
}
