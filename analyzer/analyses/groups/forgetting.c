/* forgetting.c: for `portolan groups --forgetting`: counts how many examples were forgotten how often, and prints and
 * draws the counts. */
#include "forgetting.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "groups.h"
#include "output/table.h"
#include "plot/chart.h"

#include <math.h>

void
forgetting_count(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                 struct forgetting *result)
{
	double most = 0;

	*result = (struct forgetting){.examples = n};
	for (size_t i = 0; i < n; i++)
		most = events[order[i]] > most ? events[order[i]] : most;
	result->bins = (size_t)most + 1;
	result->histogram = memory_new(result->bins, sizeof(*result->histogram));
	for (size_t i = 0; i < n; i++) {
		size_t count = (size_t)events[order[i]];

		result->histogram[count]++;
		result->events += count;
		result->forgotten += count > 0;
		result->never_learned += never_learned[order[i]] > 0;
	}
}

void
forgetting_free(struct forgetting *result)
{
	free(result->histogram);
	*result = (struct forgetting){0};
}

/* Draws the histogram, but not the bar of 0 events: most examples are never forgotten, and their bar would leave no
 * height for the others. */
static void
forgetting_draw(const struct groups *groups, const struct forgetting *forgetting)
{
	size_t n = forgetting->bins > 1 ? forgetting->bins - 1 : 1;
	CLEANUP_FREE double *x = memory_new(2 * n, sizeof(*x));
	double *y = x + n, most = 0;
	char caption[CHART_CAPTION_ROOM];
	struct chart chart = {
	        .title = groups->dynamics.info->name,
	        .caption = caption,
	        .panel_count = 1,
	        .panels[0] = {.x_label = "forgetting events",
	                      .y_label = "examples forgotten so often",
	                      .x_min = 0.5,
	                      .x_max = (double)n + 0.5,
	                      .x_whole = true,
	                      .y_whole = true,
	                      .series = {{"forgotten", x, y, n, CHART_BARS, 0}},
	                      .series_count = 1},
	};

	for (size_t k = 1; k <= n; k++) {
		x[k - 1] = (double)k;
		y[k - 1] = k < forgetting->bins ? (double)forgetting->histogram[k] : 0;
		most = y[k - 1] > most ? y[k - 1] : most;
	}
	chart.panels[0].y_max = most > 0 ? 1.05 * most : 1;
	snprintf(caption, sizeof(caption),
	         "of %s examples %s never forgotten (%s of these never learned), %s forgotten",
	         NUMBER_GROUPED(forgetting->examples), NUMBER_GROUPED(forgetting->histogram[0]),
	         NUMBER_GROUPED(forgetting->never_learned), NUMBER_GROUPED(forgetting->forgotten));
	chart_draw(&chart, &groups->picture);
}

/* The number of forgetting events by which --never-learned counts an example that was never learned. */
static double
forgetting_of_never_learned(const struct groups *groups)
{
	double number = never_learned_number((enum never_learned)groups->never_learned, groups->dynamics.epoch_count);

	return isnan(number) ? 0 : number;
}

/* How many examples have k forgetting events. One that was never learned counts as having `never_learned`. */
static uint64_t
forgetting_bin(const struct forgetting *forgetting, size_t k, double never_learned)
{
	uint64_t examples = forgetting->histogram[k];

	if (k == 0)
		examples -= forgetting->never_learned;
	return examples + ((double)k == never_learned ? forgetting->never_learned : 0);
}

struct forgetting_row {
	double events;
	uint64_t examples, never_learned;
	double share;
};

/* Prints a row for each number of events. If the number that stands for "never learned" lies beyond the last bin, it
 * has a row of its own. */
static void
forgetting_write_table(const struct groups *groups, const struct forgetting *forgetting)
{
	double never = forgetting_of_never_learned(groups);
	const struct table_column columns[] = {
	        {"forgetting_events", TABLE_F64, offsetof(struct forgetting_row, events), .infinite = isinf(never),
	         .whole = !isinf(never)},
	        {"examples", TABLE_U64, offsetof(struct forgetting_row, examples)},
	        {"share", TABLE_F64, offsetof(struct forgetting_row, share)},
	        {"never_learned", TABLE_U64, offsetof(struct forgetting_row, never_learned)}};
	CLEANUP_FREE struct forgetting_row *rows = memory_new(forgetting->bins + 1, sizeof(*rows));
	size_t count = forgetting->bins;

	for (size_t k = 0; k < count; k++)
		rows[k] = (struct forgetting_row){(double)k, forgetting_bin(forgetting, k, never),
		                                  (double)k == never ? forgetting->never_learned : 0, 0};
	if (never >= (double)forgetting->bins && forgetting->never_learned > 0)
		rows[count++] = (struct forgetting_row){never, forgetting->never_learned, forgetting->never_learned, 0};
	for (size_t k = 0; k < count; k++)
		rows[k].share = (double)rows[k].examples / (double)forgetting->examples;
	must(table_write(&TABLE_OF(columns, rows, count), groups->common.output, (enum table_format)groups->format,
	                 &failure));
}

static void
forgetting_write_report(const struct groups *groups, const struct forgetting *forgetting)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;
	double never = forgetting_of_never_learned(groups);
	struct report report;

	must(report_open(&report, groups->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", groups->dynamics.info->name);
	REPORT_WHOLES(&report, {"epochs", groups->dynamics.epoch_count}, {"examples", forgetting->examples},
	              {"forgettable", forgettable});
	report_real(&report, "share_forgettable", (double)forgettable / (double)forgetting->examples);
	REPORT_WHOLES(&report, {"forgotten", forgetting->forgotten}, {"never_learned", forgetting->never_learned},
	              {"forgetting_events", forgetting->events});
	if (groups->never_learned != NEVER_LEARNED_FLAG)
		report_text(&report, "never_learned_as", never_learned_names[groups->never_learned]);
	report_begin_list(&report, "histogram");
	for (size_t k = 0; k < forgetting->bins; k++)
		report_whole(&report, NULL, forgetting_bin(forgetting, k, never));
	report_end(&report);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
forgetting_say(const struct forgetting *forgetting)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;

	message_note("forgettable: %s of %s examples (%.1f%%): forgotten at least once %s, never learned %s",
	             NUMBER_GROUPED(forgettable), NUMBER_GROUPED(forgetting->examples),
	             100 * (double)forgettable / (double)forgetting->examples, NUMBER_GROUPED(forgetting->forgotten),
	             NUMBER_GROUPED(forgetting->never_learned));
}

void
groups_count_forgetting(const struct groups *groups)
{
	const struct dynamics *dynamics = &groups->dynamics;
	CLEANUP(forgetting_free) struct forgetting forgetting = {.bins = 0};

	forgetting_count(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
	                 dynamics_measure(dynamics, MEASURE_NEVER_LEARNED), dynamics->order, dynamics->count,
	                 &forgetting);
	if (groups->plot)
		forgetting_draw(groups, &forgetting);
	if (groups->common.json) {
		forgetting_write_report(groups, &forgetting);
	} else {
		forgetting_write_table(groups, &forgetting);
		forgetting_say(&forgetting);
	}
}
