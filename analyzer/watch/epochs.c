/*
 * epochs.c: portolan epochs: how each epoch of a run went, one line each.
 *
 * The sums are those of portolan watch and the live page (watch/live.h), taken once.
 */
#include "base/message.h"
#include "live.h"
#include "options/format.h"
#include "output/rows.h"

#include <portolan/error.h>

struct epochs_request {
	struct common_options common;
	int format; /* of the table; see common.json */
};

static const struct rows_column columns[] = {{"epoch", ROWS_WHOLE},     {"examples", ROWS_WHOLE},
                                             {"accuracy", ROWS_REAL},   {"mean_loss", ROWS_REAL},
                                             {"forgotten", ROWS_WHOLE}, {"learned", ROWS_WHOLE}};

static void
add_rows(struct rows *rows, const struct live_view *view)
{
	for (size_t e = 0; e < view->epoch_count; e++) {
		const struct tally_epoch *epoch = &view->epochs[e];

		rows_whole(rows, epoch->epoch);
		rows_whole(rows, epoch->observed);
		rows_real(rows, tally_mean((double)epoch->correct, epoch));
		rows_real(rows, tally_mean(epoch->loss, epoch));
		rows_whole(rows, epoch->forgotten);
		rows_whole(rows, epoch->learned);
	}
}

static int
write_table(const struct epochs_request *request, const struct live_view *view, struct portolan_error *error)
{
	struct rows rows;
	int code = rows_open(&rows, request->common.output, (enum rows_format)request->format, columns,
	                     ROWS_COUNT(columns), error);

	if (code < 0)
		return code;
	add_rows(&rows, view);
	return rows_close(&rows, error);
}

static int
write_report(const struct epochs_request *request, const struct live_view *view, struct portolan_error *error)
{
	struct report report;
	struct rows rows;
	int code = report_open(&report, request->common.output, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	report_text(&report, "run", view->info.name);
	report_whole(&report, "examples", view->counts.examples);
	rows_begin(&rows, &report, "epochs", columns, ROWS_COUNT(columns));
	add_rows(&rows, view);
	rows_end(&rows);
	report_end(&report);
	return report_close(&report, error);
}

static int
refuse(const struct live_view *view, struct portolan_error *error)
{
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		return error_set(error, PORTOLAN_E_INVALID, "%s", view->why);
	if (view->state == LIVE_NOTHING)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "run '%s' is being recorded, but nothing is stored yet: try again later",
		                 view->info.name);
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no observations", view->info.name);
}

/* An exit status. */
static int
report_run(const struct live_view *view, bool strict)
{
	bool incomplete = verdict_warn(&view->verdict, view->info.name);

	if (view->state == LIVE_RECORDING)
		message_warning("run '%s' is still being recorded; this is what is stored so far", view->info.name);
	return strict && (incomplete || view->state == LIVE_RECORDING) ? STATUS_INCOMPLETE : STATUS_DONE;
}

static int
check(void *context, struct portolan_error *error)
{
	struct epochs_request *request = context;

	(void)error;
	return format_choose_rows(&request->common, &request->format);
}

static int
run(void *context, struct portolan_error *error)
{
	const struct epochs_request *request = context;
	struct live live = {.directory = request->common.query.store, .run = request->common.operands[0]};
	struct live_view view;
	int code = live_look(&live, &view, error);

	if (code >= 0 && view.epoch_count == 0)
		code = refuse(&view, error);
	if (code >= 0)
		code = request->common.json ? write_report(request, &view, error) : write_table(request, &view, error);
	if (code >= 0)
		code = report_run(&view, request->common.strict);
	live_free(&live);
	return code;
}

extern const struct help help_epochs;

const struct command epochs_command = {
        .name = "epochs",
        .operands = "RUN",
        .help = &help_epochs,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_STRICT,
        .operand = "run",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct epochs_request),
        .check = check,
        .run = run,
};
