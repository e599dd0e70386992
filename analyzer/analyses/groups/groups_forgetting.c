/* groups_forgetting.c: portolan groups --forgetting: how many examples were forgotten how often. */
#include "groups.h"

#include "base/message.h"
#include "base/number.h"
#include "forgetting.h"
#include "die/memory.h"
#include "output/table.h"

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

struct forgetting_row {
	double events;
	uint64_t examples, never_learned;
	double share;
};

/* The number that stands for "never learned" has a row of its own if it lies beyond the last bin. */
static int
forgetting_write_table(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
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
	return table_write(&TABLE_OF(columns, rows, count), groups->common.output, (enum table_format)groups->format,
	                   error);
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
