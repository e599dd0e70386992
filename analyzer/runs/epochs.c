/*
 * epochs.c: portolan epochs: prints a table with one line for each epoch of a run: examples, accuracy, mean loss, and
 * how many examples were forgotten and learned. It looks at the run once, as `watch` does again and again
 * (watch/live.h).
 */
#include "base/message.h"
#include "die/die.h"
#include "options/format.h"
#include "output/table.h"
#include "watch/live.h"

struct epochs_request {
	struct common_options common;
	int format; /* of the table; see common.json */
};

static const struct table_column epochs_columns[] = {{"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
                                                     {"examples", TABLE_U64, offsetof(struct tally_epoch, observed)},
                                                     {"accuracy", TABLE_REAL_OF, .real = tally_accuracy},
                                                     {"mean_loss", TABLE_REAL_OF, .real = tally_mean_loss},
                                                     {"forgotten", TABLE_U64, offsetof(struct tally_epoch, forgotten)},
                                                     {"learned", TABLE_U64, offsetof(struct tally_epoch, learned)}};

static void
epochs_report(const char *path, const struct live_view *view, const struct table *epochs)
{
	struct report report;

	must(report_open(&report, path, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", view->info.name);
	report_whole(&report, "examples", view->counts.examples);
	table_report(&report, "epochs", epochs);
	report_end(&report);
	must(report_close(&report, &failure));
}

/* Ends the command if there is nothing to print. */
static void
epochs_refuse(const struct live_view *view)
{
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN)
		die("%s", view->why);
	if (view->epoch_count == 0 && view->state == LIVE_NOTHING)
		die("run '%s' is being recorded, but nothing is stored yet: try again later", view->info.name);
	if (view->epoch_count == 0)
		die("run '%s' has no observations", view->info.name);
}

/* Warns if the run is not complete. Returns the exit status. */
static int
epochs_warn(const struct live_view *view, bool strict)
{
	bool incomplete = verdict_warn(&view->verdict, view->info.name);

	if (view->state == LIVE_RECORDING)
		message_warning("run '%s' is still being recorded; this is what is stored so far", view->info.name);
	return strict && (incomplete || view->state == LIVE_RECORDING) ? STATUS_INCOMPLETE : STATUS_DONE;
}

static int
epochs_check(void *context, struct portolan_error *error)
{
	struct epochs_request *request = context;

	(void)error;
	return format_choose_rows(&request->common, &request->format);
}

static int
epochs_run(void *context, struct portolan_error *error)
{
	const struct epochs_request *request = context;
	const struct common_options *common = &request->common;
	struct live live = {.directory = common->query.store, .run = common->operands[0]};
	struct live_view view;
	struct table epochs;
	int status;

	(void)error;
	must(live_look(&live, &view, &failure));
	epochs_refuse(&view);
	epochs = TABLE_OF(epochs_columns, view.epochs, view.epoch_count);
	if (common->json)
		epochs_report(common->output, &view, &epochs);
	else
		must(table_write(&epochs, common->output, (enum table_format)request->format, &failure));
	status = epochs_warn(&view, common->strict);
	live_free(&live);
	return status;
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
        .check = epochs_check,
        .run = epochs_run,
};
