/* groups_summary.c: for `portolan groups --data`: selects examples, and prints their attributes (columns of the user's
 * file) beside those of all examples. What is not defined is empty, and null in JSON. */
#include "groups.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/table.h"
#include "selection/rule_options.h"

#include <math.h>
#include <string.h>

#define SUMMARY_COLUMNS 11

struct table_cell
groups_gold_cell(const struct groups *groups, int32_t gold)
{
	const char *text = gold == SUMMARY_ALL ? "all" : NULL;

	if (gold >= 0 && groups_is_for_people(groups))
		text = store_snapshot_label(groups->dynamics.snapshot, (uint64_t)gold);
	if (text)
		return (struct table_cell){.kind = TABLE_STRING, .text = text, .length = strlen(text)};
	return gold >= 0 ? (struct table_cell){.kind = TABLE_WHOLE, .whole = (uint64_t)gold}
	                 : (struct table_cell){.kind = TABLE_EMPTY};
}

/* Fills the columns of the table; returns how many there are. For people, a label's name takes the place of its
 * number. */
static size_t
summary_columns(const struct groups *groups, const struct summary_row *rows, size_t count, struct table_cell *gold,
                struct table_column columns[SUMMARY_COLUMNS])
{
	const struct store_snapshot *snapshot = groups->dynamics.snapshot;
	const struct table_column all[SUMMARY_COLUMNS] = {
	        {"attribute", TABLE_TEXT, offsetof(struct summary_row, attribute)},
	        {"value", TABLE_TEXT, offsetof(struct summary_row, value)},
	        {"gold", TABLE_CELL, .values = gold},
	        {"label", TABLE_LABEL, offsetof(struct summary_row, gold), .of = snapshot},
	        {"examples", TABLE_U64, offsetof(struct summary_row, n)},
	        {"all", TABLE_F64, offsetof(struct summary_row, all)},
	        {"selected_examples", TABLE_U64, offsetof(struct summary_row, selected_n)},
	        {"selected", TABLE_F64, offsetof(struct summary_row, selected)},
	        {"difference", TABLE_F64, offsetof(struct summary_row, difference)},
	        {"low", TABLE_F64, offsetof(struct summary_row, low)},
	        {"high", TABLE_F64, offsetof(struct summary_row, high)}};
	size_t column_count = 0;

	for (size_t i = 0; i < count; i++)
		gold[i] = groups_gold_cell(groups, rows[i].gold);
	for (size_t c = 0; c < SUMMARY_COLUMNS; c++)
		if (!groups_is_for_people(groups) || all[c].type != TABLE_LABEL)
			columns[column_count++] = all[c];
	return column_count;
}

void
groups_report_file(const struct groups *groups, const struct columns *columns, struct report *report)
{
	const struct attributes *attributes = &columns->attributes;

	report_begin(report, "attributes");
	report_text(report, "file", groups->columns.path);
	REPORT_WHOLES(report, {"records", attributes->records}, {"unknown", attributes->unknown},
	              {"examples_without", attributes->unmatched});
	report_end(report);
}

static void
summary_write_report(const struct groups *groups, const struct columns *columns, const struct table *table)
{
	struct report report;

	must(report_open(&report, groups->common.output, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", groups->dynamics.info->name);
	report_text(&report, "by", groups->rule_text);
	REPORT_WHOLES(&report, {"examples", groups->dynamics.count}, {"selected", groups->selected_count});
	groups_report_file(groups, columns, &report);
	report_whole(&report, "replicates", groups->replicates);
	report_real(&report, "level", groups->level);
	report_whole(&report, "seed", groups->seed);
	table_report(&report, "rows", table);
	report_end(&report);
	must(report_close(&report, &failure));
}

static void
summary_write(const struct groups *groups, const struct columns *columns, const struct summary_row *rows, size_t count)
{
	CLEANUP_FREE struct table_cell *gold = memory_new(count, sizeof(*gold));
	struct table_column list[SUMMARY_COLUMNS];
	struct table table = TABLE_OF(list, rows, count);

	table.column_count = summary_columns(groups, rows, count, gold, list);
	if (groups->common.json)
		summary_write_report(groups, columns, &table);
	else
		must(table_write(&table, groups->common.output, (enum table_format)groups->format, &failure));
}

/* How many examples to select: no more than there are. */
static size_t
summary_selection_size(const struct groups *groups)
{
	size_t all = groups->dynamics.count, size = all;

	if (groups->count)
		return groups->count < all ? (size_t)groups->count : all;
	if (!isnan(groups->fraction))
		size = selection_size(groups->fraction, all);
	else if (!selection_rule_is_set(&groups->rule))
		size = selection_size(1.0 / 3, all);
	if (size == 0 && !isnan(groups->fraction))
		message_warning("%g of %zu examples is none: ask for a larger --fraction", groups->fraction, all);
	return size;
}

/* Marks the examples that the rule selects: selected[], by place in the dynamics' order. */
static void
summary_select(struct groups *groups, bool *selected)
{
	const struct dynamics *dynamics = &groups->dynamics;
	CLEANUP_ARRAY uint32_t *ranked = memory_array(dynamics->count, sizeof(*ranked), "ranked examples");
	CLEANUP_ARRAY bool *chosen = memory_array(dynamics->ids.rows, sizeof(*chosen), "marks");
	size_t ranked_count = selection_rank(dynamics, &groups->rule, groups->seed, ranked), size;

	size = summary_selection_size(groups);
	groups->selected_count = size < ranked_count ? size : ranked_count;
	if (groups->count > groups->selected_count)
		message_warning("%zu selected instead of %llu: there are no more to choose from",
		                groups->selected_count, (unsigned long long)groups->count);
	for (size_t i = 0; i < groups->selected_count; i++)
		chosen[ranked[i]] = true;
	for (size_t i = 0; i < dynamics->count; i++)
		selected[i] = chosen[dynamics->order[i]];
}

int
groups_warn_of_file(const struct groups *groups, const struct columns *columns)
{
	const char *path = groups->columns.path;

	if (columns->passed_over[0])
		message_warning("%s: passed over for having more than %d different values: %s; --columns has them all",
		                path, COLUMNS_CATEGORIES_MAX, columns->passed_over);
	join_warn(&columns->attributes.oddities, path, groups->columns.id_field);
	if (columns->attributes.unknown)
		message_warning("%s: %s of %s records belong to no example of the run", path,
		                NUMBER_GROUPED(columns->attributes.unknown),
		                NUMBER_GROUPED(columns->attributes.records));
	if (columns->attributes.unmatched == 0)
		return STATUS_DONE;
	message_warning("not in %s: %s of the run's %s examples; they are left out", path,
	                NUMBER_GROUPED(columns->attributes.unmatched), NUMBER_GROUPED(groups->dynamics.count));
	return groups->common.strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

int
groups_summarise(struct groups *groups)
{
	const struct dynamics *dynamics = &groups->dynamics;
	CLEANUP_ARRAY bool *selected = memory_array(dynamics->count, sizeof(*selected), "marks");
	CLEANUP_ARRAY int32_t *gold = memory_array(dynamics->count, sizeof(*gold), "gold labels");
	CLEANUP(columns_free) struct columns columns = {.count = 0};
	CLEANUP_FREE struct summary_row *rows = NULL;
	struct summary_request request = {.columns = columns.list,
	                                  .selected = selected,
	                                  .gold = gold,
	                                  .n = dynamics->count,
	                                  .replicates = (size_t)groups->replicates,
	                                  .level = groups->level,
	                                  .seed = groups->seed,
	                                  .threads = dynamics->threads};
	size_t count;

	if (!selection_rule_is_known(&groups->rule, dynamics))
		die("run '%s' has no measure or column '%s'", dynamics->info->name, groups->rule.measure);
	(void)rule_check(&groups->common, &groups->rule,
	                 dynamics); /* ends the command where the rule needs what the run lacks */
	summary_select(groups, selected);
	columns_read(&columns, &groups->columns, dynamics);
	for (size_t i = 0; i < dynamics->count; i++)
		gold[i] = dynamics->gold[dynamics->order[i]];
	request.column_count = columns.count;
	rows = summary_make(&request, &count);
	summary_write(groups, &columns, rows, count);
	return groups_warn_of_file(groups, &columns);
}
