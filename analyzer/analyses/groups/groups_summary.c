/* groups_summary.c: portolan groups --data: the attributes of a selection beside those of all examples. What is not
 * defined is empty, and null in JSON. */
#include "groups.h"

#include "base/message.h"
#include "base/number.h"
#include "memory/memory.h"
#include "output/rows.h"

#include <portolan/error.h>

#include <math.h>

#define LABEL 3 /* a column that people do not get: the label's name takes the place of its number */
static const struct rows_column summary_columns[] = {{"attribute", ROWS_TEXT},
                                                     {"value", ROWS_TEXT},
                                                     {"gold", ROWS_TEXT},
                                                     {"label", ROWS_TEXT},
                                                     {"examples", ROWS_WHOLE},
                                                     {"all", ROWS_REAL},
                                                     {"selected_examples", ROWS_WHOLE},
                                                     {"selected", ROWS_REAL},
                                                     {"difference", ROWS_REAL},
                                                     {"low", ROWS_REAL},
                                                     {"high", ROWS_REAL}};

static void
summary_add_rows(struct rows *rows, const struct dynamics *dynamics, const struct summary_row *list, size_t count)
{
	bool for_people = rows->column_count < ROWS_COUNT(summary_columns);

	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &list[i];
		const struct names *values = row->column->numbers ? NULL : row->column->names;
		const char *label =
		        row->gold < 0 ? NULL : store_snapshot_label(dynamics->snapshot, (uint64_t)row->gold);
		size_t length;

		rows_text(rows, row->column->name);
		rows_text(rows, values ? names_text(values, (uint32_t)row->category, &length) : NULL);
		if (row->gold < 0)
			rows_text(rows, row->gold == SUMMARY_ALL ? "all" : NULL);
		else if (for_people && label)
			rows_text(rows, label);
		else
			rows_whole(rows, (uint64_t)row->gold);
		if (!for_people)
			rows_text(rows, label);
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
summary_write_table(const struct groups *groups, const struct summary_row *list, size_t count,
                    struct portolan_error *error)
{
	bool for_people = groups->format == ROWS_ALIGNED;
	struct rows_column columns[ROWS_COUNT(summary_columns)];
	size_t column_count = 0;
	struct rows rows;
	int code;

	for (size_t c = 0; c < ROWS_COUNT(summary_columns); c++)
		if (!for_people || c != LABEL)
			columns[column_count++] = summary_columns[c];
	code = rows_open(&rows, groups->common.output, (enum rows_format)groups->format, columns, column_count, error);
	if (code < 0)
		return code;
	summary_add_rows(&rows, &groups->dynamics, list, count);
	return rows_close(&rows, error);
}

static int
summary_write_report(const struct groups *groups, const struct columns *columns, const struct summary_row *list,
                     size_t count, struct portolan_error *error)
{
	const struct attributes *attributes = &columns->attributes;
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
	REPORT_WHOLES(&report, {"records", attributes->records}, {"unknown", attributes->unknown},
	              {"examples_without", attributes->unmatched});
	report_end(&report);
	report_whole(&report, "replicates", groups->replicates);
	report_real(&report, "level", groups->level);
	report_whole(&report, "seed", groups->seed);
	rows_begin(&rows, &report, "rows", summary_columns, ROWS_COUNT(summary_columns));
	summary_add_rows(&rows, &groups->dynamics, list, count);
	rows_end(&rows);
	report_end(&report);
	return report_close(&report, error);
}

/* The number of examples to select, of those that there are. */
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
static int
summary_select(struct groups *groups, bool *selected, struct portolan_error *error)
{
	const struct dynamics *dynamics = &groups->dynamics;
	CLEANUP_ARRAY uint32_t *ranked = memory_array(dynamics->count, sizeof(*ranked), "ranked examples");
	CLEANUP_ARRAY bool *chosen = memory_array(dynamics->ids.rows, sizeof(*chosen), "marks");
	size_t ranked_count, size;
	int code = selection_rank(dynamics, &groups->rule, groups->seed, ranked, &ranked_count, error);

	if (code < 0)
		return code;
	size = summary_selection_size(groups);
	groups->selected_count = size < ranked_count ? size : ranked_count;
	if (groups->count > groups->selected_count)
		message_warning("%zu selected instead of %llu: there are no more to choose from",
		                groups->selected_count, (unsigned long long)groups->count);
	for (size_t i = 0; i < groups->selected_count; i++)
		chosen[ranked[i]] = true;
	for (size_t i = 0; i < dynamics->count; i++)
		selected[i] = chosen[dynamics->order[i]];
	return 0;
}

/* Warns of examples that the file lacks, and of records that were not used. Returns STATUS_INCOMPLETE under --strict if
 * examples are missing. */
static int
summary_warn(const struct groups *groups, const struct columns *columns)
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
groups_summarise(struct groups *groups, struct portolan_error *error)
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
	int code;

	if (!selection_rule_is_known(&groups->rule, dynamics))
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no measure or column '%s'",
		                 dynamics->info->name, groups->rule.measure);
	code = summary_select(groups, selected, error);
	if (code >= 0)
		code = columns_read(&columns, &groups->columns, dynamics, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < dynamics->count; i++)
		gold[i] = dynamics->gold[dynamics->order[i]];
	request.column_count = columns.count;
	code = summary_make(&request, &rows, &count, error);
	if (code >= 0)
		code = groups->common.json ? summary_write_report(groups, &columns, rows, count, error)
		                           : summary_write_table(groups, rows, count, error);
	return code < 0 ? code : summary_warn(groups, &columns);
}
