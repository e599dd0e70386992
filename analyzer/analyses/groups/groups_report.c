/* groups_report.c: the output of portolan groups. Values that are not defined are empty, and null in JSON. */
#include "groups.h"

#include "output/rows.h"

#include <math.h>

static const char *
label_of(const struct dynamics *dynamics, const struct summary_row *row)
{
	return row->gold < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)row->gold);
}

static const char *
value_of(const struct summary_row *row)
{
	size_t length;

	return row->column->numbers ? NULL : names_text(row->column->names, (uint32_t)row->category, &length);
}

#define COLUMNS_OF_NUMBERS                                                                                             \
	{"examples", ROWS_WHOLE}, {"all", ROWS_REAL}, {"selected_examples", ROWS_WHOLE}, {"selected", ROWS_REAL},      \
	        {"difference", ROWS_REAL}, {"low", ROWS_REAL},                                                         \
	{                                                                                                              \
		"high", ROWS_REAL                                                                                      \
	}

static const struct rows_column columns[] = {
        {"attribute", ROWS_TEXT}, {"value", ROWS_TEXT}, {"gold", ROWS_TEXT}, {"label", ROWS_TEXT}, COLUMNS_OF_NUMBERS};

/* For people, a label's name takes the place of its number. */
static const struct rows_column columns_for_people[] = {
        {"attribute", ROWS_TEXT}, {"value", ROWS_TEXT}, {"gold", ROWS_TEXT}, COLUMNS_OF_NUMBERS};

static void
add_gold(struct rows *rows, const struct dynamics *dynamics, const struct summary_row *row)
{
	const char *label = label_of(dynamics, row);
	bool for_people = rows->columns == columns_for_people;

	if (row->gold < 0)
		rows_text(rows, row->gold == SUMMARY_ALL ? "all" : NULL);
	else if (for_people && label)
		rows_text(rows, label);
	else
		rows_whole(rows, (uint64_t)row->gold);
	if (!for_people)
		rows_text(rows, label);
}

static void
add_rows(struct rows *rows, const struct dynamics *dynamics, const struct summary_row *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &list[i];

		rows_text(rows, row->column->name);
		rows_text(rows, value_of(row));
		add_gold(rows, dynamics, row);
		rows_whole(rows, row->n);
		rows_real(rows, row->all);
		rows_whole(rows, row->selected_n);
		rows_real(rows, row->selected);
		rows_real(rows, row->difference);
		rows_real(rows, row->low);
		rows_real(rows, row->high);
	}
}

static int
write_table(const struct groups *groups, const struct summary_row *list, size_t count, struct portolan_error *error)
{
	bool for_people = groups->format == ROWS_ALIGNED;
	struct rows rows;
	int code = rows_open(&rows, groups->common.output, (enum rows_format)groups->format,
	                     for_people ? columns_for_people : columns,
	                     for_people ? ROWS_COUNT(columns_for_people) : ROWS_COUNT(columns), error);

	if (code < 0)
		return code;
	add_rows(&rows, &groups->dynamics, list, count);
	return rows_close(&rows, error);
}

static int
write_report(const struct groups *groups, const struct columns *attributes, const struct summary_row *list,
             size_t count, struct portolan_error *error)
{
	struct report report;
	struct rows rows;
	int code = report_open(&report, groups->common.output, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	report_text(&report, "run", groups->dynamics.info->name);
	report_text(&report, "by", groups->rule_text);
	REPORT_WHOLES(&report, {"examples", groups->dynamics.count}, {"selected", groups->selected_count});
	report_begin(&report, "attributes");
	report_text(&report, "file", groups->columns.path);
	REPORT_WHOLES(&report, {"records", attributes->attributes.records}, {"unknown", attributes->attributes.unknown},
	              {"examples_without", attributes->attributes.unmatched});
	report_end(&report);
	report_whole(&report, "replicates", groups->replicates);
	report_real(&report, "level", groups->level);
	report_whole(&report, "seed", groups->seed);
	rows_begin(&rows, &report, "rows", columns, ROWS_COUNT(columns));
	add_rows(&rows, &groups->dynamics, list, count);
	rows_end(&rows);
	report_end(&report);
	return report_close(&report, error);
}

int
groups_write(const struct groups *groups, const struct columns *attributes, const struct summary_row *list,
             size_t count, struct portolan_error *error)
{
	return groups->common.json ? write_report(groups, attributes, list, count, error)
	                           : write_table(groups, list, count, error);
}

/* The number of forgetting events that stands for "never learned", by --never-learned. */
static double
never_learned_events(const struct groups *groups)
{
	double number = never_learned_number((enum never_learned)groups->never_learned, groups->dynamics.epoch_count);

	return isnan(number) ? 0 : number;
}

/* The number of examples with k forgetting events, with the never learned counted as --never-learned says. */
static uint64_t
bin_of(const struct forgetting *forgetting, size_t k, double never_learned)
{
	uint64_t examples = forgetting->histogram[k];

	if (k == 0)
		examples -= forgetting->never_learned;
	return examples + ((double)k == never_learned ? forgetting->never_learned : 0);
}

static void
add_bin(struct rows *rows, double events, uint64_t examples, uint64_t never_learned,
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

/* The number that stands for "never learned" may lie beyond the last bin; it then has a row of its own. */
static int
write_histogram(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	double never = never_learned_events(groups);
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
		add_bin(&rows, (double)k, bin_of(forgetting, k, never),
		        (double)k == never ? forgetting->never_learned : 0, forgetting);
	if (never >= (double)forgetting->bins && forgetting->never_learned > 0)
		add_bin(&rows, never, forgetting->never_learned, forgetting->never_learned, forgetting);
	return rows_close(&rows, error);
}

static int
write_forgetting(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;
	double never = never_learned_events(groups);
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
		report_whole(&report, NULL, bin_of(forgetting, k, never));
	report_end(&report);
	report_end(&report);
	return report_close(&report, error);
}

int
groups_write_forgetting(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	return groups->common.json ? write_forgetting(groups, forgetting, error)
	                           : write_histogram(groups, forgetting, error);
}
