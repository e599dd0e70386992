/*
 * frame.c: shows one look at a run (live.h), for `portolan watch` and the live page: as a line for logs, or as a JSON
 * object for programs. The third way, a screen, is in frame_screen.c. What all three share is here: the warnings, and
 * the pace of the recording.
 */
#include "frame.h"

#include "base/number.h"
#include "verdict/counters.h"

#include <math.h>
#include <stdarg.h>

#define IDLE_S 30.0 /* a shorter pause is normal: at an epoch's end, evaluation or a checkpoint takes time */

const char *const frame_states[] = {
        [LIVE_NO_STORE] = "waiting",    [LIVE_NO_RUN] = "waiting", [LIVE_NOTHING] = "recording",
        [LIVE_RECORDING] = "recording", [LIVE_CLOSED] = "closed",
};

void
frame_take_pace(struct frame_pace *pace, const struct live_view *view, double now, struct frame_moment *moment)
{
	bool same = view->info.number == pace->number && view->accepted >= pace->accepted;

	moment->rate = NAN;
	if (same && pace->number && pace->looked > 0 && now > pace->looked)
		moment->rate = (double)(view->accepted - pace->accepted) / (now - pace->looked);
	if (!same || view->accepted != pace->accepted || pace->looked == 0)
		pace->changed = now;
	moment->idle = now - pace->changed;
	pace->looked = now;
	pace->accepted = view->accepted;
	pace->number = view->info.number;
}

struct warnings {
	char (*lines)[FRAME_WARNING_ROOM];
	unsigned count;
};

__attribute__((format(printf, 2, 3))) static void
frame_warn(struct warnings *warnings, const char *format, ...)
{
	va_list arguments;

	if (warnings->count == FRAME_WARNINGS)
		return;
	va_start(arguments, format);
	vsnprintf(warnings->lines[warnings->count++], FRAME_WARNING_ROOM, format, arguments);
	va_end(arguments);
}

static void
frame_warn_of_count(struct warnings *warnings, uint64_t count, const char *what)
{
	if (count > 0)
		frame_warn(warnings, "%s %s", NUMBER_GROUPED(count), what);
}

static void
frame_warn_of_idleness(struct warnings *warnings, const struct live_view *view, const struct frame_moment *moment)
{
	if (view->state != LIVE_RECORDING && view->state != LIVE_NOTHING)
		return;
	if (!view->collector)
		frame_warn(
		        warnings,
		        "no collector serves the store: clients keep what they log until one does (portoland --store %s)",
		        moment->directory);
	else if (moment->idle >= IDLE_S)
		frame_warn(warnings, "nothing new for %.0f seconds: is the training loop at work?", moment->idle);
}

unsigned
frame_warnings(const struct live_view *view, const struct frame_moment *moment,
               char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM])
{
	struct warnings list = {.lines = warnings};
	struct findings findings = {.count = 0};
	char line[FINDING_ROOM];

	if (moment->trouble)
		frame_warn(&list, "cannot be read at the moment: %s", moment->trouble);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		return list.count;
	frame_warn_of_count(&list, view->clients.dropped, "observations dropped by clients that had no room left");
	verdict_find(&view->verdict, &findings);
	for (size_t i = 0; i < findings.count; i++) {
		verdict_print(&findings.found[i], line);
		frame_warn(&list, "%s", line);
	}
	frame_warn_of_count(&list, view->counters.failures, "commits failed: is the disk full?");
	frame_warn_of_count(&list, view->counters.malformed, "malformed frames came");
	frame_warn_of_count(&list, view->info.replaced,
	                    "observations replaced by later ones of the same example and epoch");
	frame_warn_of_count(&list, view->lost_sessions, "sessions ended without closing the run");
	frame_warn_of_count(&list, view->clients.waits, "log calls had to wait: the collector does not keep up");
	frame_warn_of_idleness(&list, view, moment);
	return list.count;
}

/* Prints a text with question marks for control characters, which could move a terminal's cursor. */
static void
frame_put_text(FILE *stream, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, stream);
}

static void
frame_put_epoch(FILE *stream, const struct live_view *view)
{
	const struct tally_epoch *epoch = &view->epochs[view->epoch_count - 1];

	fprintf(stream, ": epoch %u, %s", epoch->epoch, NUMBER_GROUPED(epoch->observed));
	if (view->expected)
		fprintf(stream, " of %s (%.0f%%)", NUMBER_GROUPED(view->expected),
		        floor(100 * (double)epoch->observed / (double)view->expected));
	if (epoch->observed && epoch->of_losses)
		fprintf(stream, ", mean loss %.4g", tally_mean_loss(epoch));
	else if (epoch->observed)
		fprintf(stream, ", accuracy %.4f, confidence %.4f", tally_accuracy(epoch), tally_confidence(epoch));
}

static void
frame_put_rest(FILE *stream, const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);

	if (!isnan(moment->rate))
		fprintf(stream, ", %s/s", NUMBER_GROUPED((uint64_t)llround(moment->rate)));
	if (!view->info.of_losses)
		fprintf(stream, "; forgetting events %s, not learned yet %s", NUMBER_GROUPED(view->events),
		        NUMBER_GROUPED(view->counts.never_learned));
	if (view->state == LIVE_CLOSED)
		fputs("; closed", stream);
	for (unsigned i = 0; i < count; i++) {
		fputs("; warning: ", stream);
		frame_put_text(stream, warnings[i]);
	}
}

void
frame_line(FILE *stream, const struct live_view *view, const struct frame_moment *moment)
{
	fprintf(stream, "%s ", moment->clock);
	frame_put_text(stream, moment->run);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN) {
		fputs(": waiting: ", stream);
		frame_put_text(stream, moment->trouble ? moment->trouble : view->why);
	} else if (view->epoch_count == 0) {
		fputs(view->state == LIVE_CLOSED ? ": closed, without observations" : ": recording, nothing stored yet",
		      stream);
	} else {
		frame_put_epoch(stream, view);
		frame_put_rest(stream, view, moment);
	}
	fputc('\n', stream);
}

static void
frame_report_epochs(struct report *report, const struct live_view *view)
{
	static const struct table_column columns[] = {{"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
	                                              {"observed", TABLE_U64, offsetof(struct tally_epoch, observed)},
	                                              {"accuracy", TABLE_REAL_OF, .real = tally_accuracy},
	                                              {"confidence", TABLE_REAL_OF, .real = tally_confidence},
	                                              {"mean_loss", TABLE_REAL_OF, .real = tally_mean_loss},
	                                              {"forgotten", TABLE_U64, offsetof(struct tally_epoch, forgotten)},
	                                              {"learned", TABLE_U64, offsetof(struct tally_epoch, learned)}};

	static const struct table_column of_losses[] = {{"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
	                                                {"observed", TABLE_U64, offsetof(struct tally_epoch, observed)},
	                                                {"mean_loss", TABLE_REAL_OF, .real = tally_mean_loss}};

	if (view->info.of_losses)
		table_report(report, "epochs", &TABLE_OF(of_losses, view->epochs, view->epoch_count));
	else
		table_report(report, "epochs", &TABLE_OF(columns, view->epochs, view->epoch_count));
}

static void
frame_report_warnings(struct report *report, const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);

	report_begin_list(report, "warnings");
	for (unsigned i = 0; i < count; i++)
		report_text(report, NULL, warnings[i]);
	report_end(report);
}

static void
frame_report_run(struct report *report, const struct live_view *view)
{
	const struct store_run_info *info = &view->info;

	report_whole(report, "declared", info->declared);
	if (view->expected)
		report_whole(report, "expected", view->expected);
	else
		report_null(report, "expected");
	REPORT_WHOLES(report, {"examples", view->counts.examples}, {"observations", info->observations},
	              {"replaced", info->replaced}, {"refused", info->refused});
	frame_report_epochs(report, view);
	if (!info->of_losses) {
		report_begin(report, "forgetting");
		REPORT_WHOLES(report, {"events", view->events}, {"examples", view->counts.forgotten},
		              {"not_learned", view->counts.never_learned});
		report_end(report);
	}
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
	report_text(report, "state", frame_states[view->state]);
	report_real(report, "rate", moment->rate);
	report_real(report, "idle_seconds", moment->idle);
	frame_report_warnings(report, view, moment);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		report_text(report, "why", moment->trouble ? moment->trouble : view->why);
	else
		frame_report_run(report, view);
	report_end(report);
}
