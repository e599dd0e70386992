/*
 * epochs.c: portolan epochs: prints a table with one line for each epoch of a run: examples, accuracy, mean loss, and
 * how many examples were forgotten and learned. It looks at the run once, as `watch` does again and again
 * (watch/live.h); for the common trend in the report of --json it reads the run once more.
 */
#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "measures/dynamics.h"
#include "measures/scan.h"
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

/* Of a run of losses, in which nothing is right or wrong. */
static const struct table_column losses_columns[] = {{"epoch", TABLE_U32, offsetof(struct tally_epoch, epoch)},
                                                     {"examples", TABLE_U64, offsetof(struct tally_epoch, observed)},
                                                     {"mean_loss", TABLE_REAL_OF, .real = tally_mean_loss}};

/* Adds the run's burn-in, and for each first epoch the shares that the variance over the epochs from it on has. */
static void
epochs_report_trend(struct report *report, const struct run_query *query, const char *name)
{
	const struct dynamics_request request = {
	        .measures = MEASURE_BIT(MEASURE_VARIABILITY), .losses = true, .trend = true};
	const struct scan_steps no_steps = {0};
	struct trend_shares *shares;
	struct dynamics run;

	must(dynamics_open(&run, query, name, &request, &failure));
	must(scan_run(&run, &no_steps, &failure));
	shares = memory_new(run.epoch_count, sizeof(*shares));
	trend_shares(run.trend, run.epoch_count, shares);
	report_whole(report, "after_burn_in", run.epochs[trend_burn_in(run.trend, run.epoch_count)]);
	report_begin_list(report, "variance");
	for (size_t e = 0; e < run.epoch_count; e++) {
		report_begin(report, NULL);
		report_whole(report, "from_epoch", run.epochs[e]);
		report_real(report, "between_examples", shares[e].examples);
		report_real(report, "common_trend", shares[e].trend);
		report_real(report, "rest", shares[e].rest);
		report_end(report);
	}
	report_end(report);
	free(shares);
	dynamics_free(&run);
}

static void
epochs_report(const struct common_options *common, const struct live_view *view, const struct table *epochs)
{
	struct report report;

	must(report_open(&report, common->output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", view->info.name);
	report_whole(&report, "examples", view->counts.examples);
	table_report(&report, "epochs", epochs);
	epochs_report_trend(&report, &common->query, view->info.name);
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
	epochs = view.info.of_losses ? TABLE_OF(losses_columns, view.epochs, view.epoch_count)
	                             : TABLE_OF(epochs_columns, view.epochs, view.epoch_count);
	if (common->json)
		epochs_report(common, &view, &epochs);
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
