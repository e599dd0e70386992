/* view_report.c: writes the JSON from which the live page learns what it can show of a run (a view, view.h): epochs,
 * columns, labels, regions, and the fields of the user's file. */
#include "colours.h"
#include "view.h"

#include "regions/regions.h"
#include "verdict/run_report.h"

#include <math.h>
#include <string.h>

static void
view_report_epochs(struct report *report, const char *key, const uint32_t *epochs, size_t count)
{
	report_begin_list(report, key);
	for (size_t e = 0; e < count; e++)
		report_whole(report, NULL, epochs[e]);
	report_end(report);
}

/* Writes what the column says of an example. */
static void
view_report_about(struct report *report, const struct dynamics_column *column, bool of_losses)
{
	char about[sizeof(column->name) + 64];
	const char *name = column->name;

	if (column->measure >= 0) {
		report_text(
		        report, "about",
		        !of_losses || (column->measure != MEASURE_VARIABILITY && column->measure != MEASURE_CORRECTNESS)
		                ? measure_abouts[column->measure]
		        : column->measure == MEASURE_VARIABILITY
		                ? "how much the loss changed between epochs (standard deviation)"
		                : "the share of epochs at which the loss was at most --loss-threshold");
		return;
	}
	if (strncmp(name, "mean_", 5) == 0 && measure_find(name + 5) >= 0) /* called so as a measure has its name */
		name += 5;
	snprintf(about, sizeof(about), "the mean of %s, a number that the loop logged", name);
	report_text(report, "about", about);
}

static void
view_report_columns(struct report *report, const struct view *view)
{
	report_begin_list(report, "columns");
	for (size_t c = 0; c < view->dynamics.column_count; c++) {
		const struct dynamics_column *column = &view->dynamics.columns[c];

		report_begin(report, NULL);
		report_text(report, "name", column->name);
		view_report_about(report, column, view->dynamics.info->of_losses);
		report_real(report, "low", view->extents[c].low);
		report_real(report, "high", view->extents[c].high);
		report_flag(report, "integer", column->integer);
		report_flag(report, "sometimes", column->sometimes);
		report_text(report, "digest", view->extents[c].digest);
		report_end(report);
	}
	report_end(report);
}

/* Writes where the map's regions are cut, and the number of examples in each region. */
static void
view_report_regions(struct report *report, const struct view *view)
{
	const struct dynamics *dynamics = &view->dynamics;
	const double *variability = dynamics_measure(dynamics, MEASURE_VARIABILITY);
	const double *confidence = dynamics_measure(dynamics, MEASURE_CONFIDENCE);
	uint64_t counts[REGION_COUNT] = {0};

	for (size_t i = 0; i < dynamics->count; i++) {
		uint32_t row = dynamics->order[i];

		counts[region_of(variability[row], confidence[row], &view->cuts)]++;
	}
	report_begin(report, "cuts");
	report_real(report, "variability", view->cuts.variability);
	report_real(report, "confidence", view->cuts.confidence);
	report_end(report);
	report_begin(report, "regions");
	for (unsigned r = 0; r < REGION_COUNT; r++)
		report_whole(report, region_names[r], counts[r]);
	report_end(report);
}

/* Writes how much of variability is the common trend, and from which epoch on it is less, if that is so. */
static void
view_report_trend(struct report *report, const struct dynamics *dynamics)
{
	struct trend_advice advice = trend_advise(dynamics->trend, dynamics->epoch_count);

	report_begin(report, "trend");
	report_real(report, "share", advice.share);
	report_flag(report, "most", advice.is_mostly_trend);
	if (advice.has_mend)
		report_whole(report, "less_from", dynamics->epochs[advice.first]);
	else
		report_null(report, "less_from");
	report_end(report);
}

static void
view_report_gold(struct report *report, const struct view *view)
{
	const struct colour_choice choice = {.name = "gold"};
	struct portolan_error error;
	struct colours colours;
	char digest[WITHIN_DIGEST_ROOM];

	within_digest(&view->dynamics, NULL, digest);
	report_text(report, "gold_digest", digest);
	if (colours_make(&colours, view, NULL, &choice, &error) < 0) {
		report_null(report, "gold");
		return;
	}
	colours_report(report, "gold", &colours);
	colours_free(&colours);
}

void
view_report(struct report *report, const struct view *view, const struct texts *texts, const char *media)
{
	const struct dynamics *dynamics = &view->dynamics;
	const struct store_run_info *info = dynamics->info;
	char identity[48];

	report_begin(report, NULL);
	report_text(report, "run", info->name);
	report_text(report, "version", view->version);
	snprintf(identity, sizeof(identity), "%u-%lld", (unsigned)info->number, (long long)info->created);
	report_text(report, "identity", identity);
	report_text(report, "state", run_state_name(info));
	report_text(report, "kind", run_kind_name(info));
	if (info->of_losses && !isnan(dynamics->loss_threshold))
		report_real(report, "loss_threshold", dynamics->loss_threshold);
	report_text(report, "range", view->range);
	view_report_epochs(report, "epochs", dynamics->epochs, dynamics->epoch_count);
	view_report_epochs(report, "all_epochs", view->all_epochs, view->all_epoch_count);
	report_whole(report, "examples", info->examples);
	report_whole(report, "points", dynamics->count);
	report_text(report, "ids", info->id_kind == STORE_ID_STR ? "text" : "integer");
	view_report_columns(report, view);
	view_report_gold(report, view);
	if (!info->of_losses)
		view_report_regions(report, view);
	view_report_trend(report, dynamics);
	texts_report_fields(report, texts);
	report_text(report, "media", media);
	report_end(report);
}
