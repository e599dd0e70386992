/* groups_forgetting.c: portolan groups --forgetting: how many examples were forgotten how often. */
#include "groups.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "base/number.h"
#include "forgetting.h"
#include "output/rows.h"

#include <math.h>

/* The number of forgetting events that stands for "never learned", by --never-learned. */
static double
forgetting_of_never_learned(const struct groups *groups)
{
	double number = never_learned_number((enum never_learned)groups->never_learned, groups->dynamics.epoch_count);

	return isnan(number) ? 0 : number;
}

/* The number of examples with k forgetting events. Those never learned count as `never_learned` events. */
static uint64_t
forgetting_bin(const struct forgetting *forgetting, size_t k, double never_learned)
{
	uint64_t examples = forgetting->histogram[k];

	if (k == 0)
		examples -= forgetting->never_learned;
	return examples + ((double)k == never_learned ? forgetting->never_learned : 0);
}

static void
forgetting_add_bin(struct rows *rows, double events, uint64_t examples, uint64_t never_learned,
                   const struct forgetting *forgetting)
{
	if (rows->columns[0].kind == ROWS_REAL)
		rows_real_or_infinite(rows, events);
	else
		rows_whole(rows, (uint64_t)events);
	rows_whole(rows, examples);
	rows_real(rows, (double)examples / (double)forgetting->examples);
	rows_whole(rows, never_learned);
}

/* The number that stands for "never learned" has a row of its own if it lies beyond the last bin. */
static int
forgetting_write_table(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	double never = forgetting_of_never_learned(groups);
	const struct rows_column bins[] = {{"forgetting_events", isinf(never) ? ROWS_REAL : ROWS_WHOLE},
	                                   {"examples", ROWS_WHOLE},
	                                   {"share", ROWS_REAL},
	                                   {"never_learned", ROWS_WHOLE}};
	struct rows rows;
	int code = rows_open(&rows, groups->common.output, (enum rows_format)groups->format, bins, ROWS_COUNT(bins),
	                     error);

	if (code < 0)
		return code;
	for (size_t k = 0; k < forgetting->bins; k++)
		forgetting_add_bin(&rows, (double)k, forgetting_bin(forgetting, k, never),
		                   (double)k == never ? forgetting->never_learned : 0, forgetting);
	if (never >= (double)forgetting->bins && forgetting->never_learned > 0)
		forgetting_add_bin(&rows, never, forgetting->never_learned, forgetting->never_learned, forgetting);
	return rows_close(&rows, error);
}

static int
forgetting_write_report(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;
	double never = forgetting_of_never_learned(groups);
	struct report report;
	int code = report_open(&report, groups->common.output, 2, error);

	if (code < 0)
		return code;
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
	return report_close(&report, error);
}

int
groups_count_forgetting(const struct groups *groups, struct portolan_error *error)
{
	const struct dynamics *dynamics = &groups->dynamics;
	CLEANUP(forgetting_free) struct forgetting forgetting = {.bins = 0};
	uint64_t forgettable;
	int code = 0;

	forgetting_count(dynamics_measure(dynamics, MEASURE_FORGETTING_EVENTS),
	                 dynamics_measure(dynamics, MEASURE_NEVER_LEARNED), dynamics->order, dynamics->count,
	                 &forgetting);
	if (groups->plot)
		code = forgetting_chart(dynamics->info->name, &forgetting, &groups->picture, error);
	if (code >= 0)
		code = groups->common.json ? forgetting_write_report(groups, &forgetting, error)
		                           : forgetting_write_table(groups, &forgetting, error);
	if (code < 0 || groups->common.json)
		return code;
	forgettable = forgetting.forgotten + forgetting.never_learned;
	message_note("forgettable: %s of %s examples (%.1f%%): forgotten at least once %s, never learned %s",
	             NUMBER_GROUPED(forgettable), NUMBER_GROUPED(forgetting.examples),
	             100 * (double)forgettable / (double)forgetting.examples, NUMBER_GROUPED(forgetting.forgotten),
	             NUMBER_GROUPED(forgetting.never_learned));
	return code;
}
