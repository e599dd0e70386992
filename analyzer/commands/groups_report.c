/* groups_report.c: what portolan groups prints. Empty, and null: not defined. */
#include "groups.h"

#include "output/rows.h"

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

static const struct rows_column columns[] = {{"attribute", ROWS_TEXT},
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
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void
add_rows(struct rows *rows, const struct dynamics *dynamics, const struct summary_row *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &list[i];

		rows_text(rows, row->column->name);
		rows_text(rows, value_of(row));
		if (row->gold >= 0)
			rows_whole(rows, (uint64_t)row->gold);
		else
			rows_text(rows, row->gold == SUMMARY_ALL ? "all" : NULL);
		rows_text(rows, label_of(dynamics, row));
		rows_whole(rows, row->n);
		rows_real(rows, row->all);
		rows_whole(rows, row->selected_n);
		rows_real(rows, row->selected);
		rows_real(rows, row->difference);
		rows_real(rows, row->low);
		rows_real(rows, row->high);
	}
}

int
groups_report_table(const struct groups *groups, const struct summary_row *list, size_t count,
                    struct portolan_error *error)
{
	struct rows rows;
	int code = rows_open(&rows, groups->common.output, (enum rows_format)groups->format, columns, COLUMNS, error);

	if (code < 0)
		return code;
	add_rows(&rows, &groups->dynamics, list, count);
	return rows_close(&rows, error);
}

json_t *
groups_report_json(const struct dynamics *dynamics, const struct summary_row *list, size_t count)
{
	struct rows rows;

	rows_begin_list(&rows, columns, COLUMNS);
	add_rows(&rows, dynamics, list, count);
	return rows_end_list(&rows);
}

int
groups_report_histogram(const struct groups *groups, const struct forgetting *forgetting, struct portolan_error *error)
{
	static const struct rows_column bins[] = {{"forgetting_events", ROWS_WHOLE},
	                                          {"examples", ROWS_WHOLE},
	                                          {"share", ROWS_REAL},
	                                          {"never_learned", ROWS_WHOLE}};
	struct rows rows;
	int code = rows_open(&rows, groups->common.output, (enum rows_format)groups->format, bins, 4, error);

	if (code < 0)
		return code;
	for (size_t k = 0; k < forgetting->bins; k++) {
		rows_whole(&rows, k);
		rows_whole(&rows, forgetting->histogram[k]);
		rows_real(&rows, (double)forgetting->histogram[k] / (double)forgetting->examples);
		rows_whole(&rows, k == 0 ? forgetting->never_learned : 0);
	}
	return rows_close(&rows, error);
}

json_t *
groups_report_histogram_json(const struct dynamics *dynamics, const struct forgetting *forgetting)
{
	uint64_t forgettable = forgetting->forgotten + forgetting->never_learned;
	json_t *list = json_array();

	for (size_t k = 0; k < forgetting->bins; k++)
		json_array_append_new(list, json_integer((json_int_t)forgetting->histogram[k]));
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "run", dynamics->info->name, "epochs",
	                 (json_int_t)dynamics->epoch_count, "examples", (json_int_t)forgetting->examples, "forgettable",
	                 (json_int_t)forgettable, "share_forgettable",
	                 (double)forgettable / (double)forgetting->examples, "forgotten",
	                 (json_int_t)forgetting->forgotten, "never_learned", (json_int_t)forgetting->never_learned,
	                 "forgetting_events", (json_int_t)forgetting->events, "histogram", list);
}
