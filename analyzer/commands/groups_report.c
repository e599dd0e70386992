/* groups_report.c: rows as CSV and JSON. Empty, and null: not defined. */
#include "groups_report.h"

#include "output/report.h"
#include "output/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void
put_number(struct output *output, double value)
{
	output_bytes(output, ",", 1);
	if (isfinite(value))
		text_number(output, value);
}

static void
put_text(struct output *output, const char *text)
{
	output_bytes(output, ",", 1);
	if (text)
		text_csv(output, text, strlen(text));
}

void
groups_report_csv(struct output *output, const struct dynamics *dynamics, const struct summary_row *rows, size_t count)
{
	output_text(output, "attribute,value,gold,label,examples,all,selected_examples,selected,difference,low,high\n");
	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &rows[i];

		text_csv(output, row->column->name, strlen(row->column->name));
		put_text(output, value_of(row));
		output_bytes(output, ",", 1);
		if (row->gold == SUMMARY_ALL)
			output_text(output, "all");
		else if (row->gold >= 0)
			text_integer(output, (uint64_t)row->gold);
		put_text(output, label_of(dynamics, row));
		output_bytes(output, ",", 1);
		text_integer(output, row->n);
		put_number(output, row->all);
		output_bytes(output, ",", 1);
		text_integer(output, row->selected_n);
		put_number(output, row->selected);
		put_number(output, row->difference);
		put_number(output, row->low);
		put_number(output, row->high);
		output_bytes(output, "\n", 1);
	}
}

static json_t *
gold_json(int32_t gold)
{
	return gold == SUMMARY_ALL ? json_string("all") : gold < 0 ? json_null() : json_integer(gold);
}

json_t *
groups_report_json(const struct dynamics *dynamics, const struct summary_row *rows, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &rows[i];

		json_array_append_new(
		        list, json_pack("{s:o, s:o, s:o, s:s?, s:I, s:o, s:I, s:o, s:o, s:o, s:o}", "attribute",
		                        report_text(row->column->name), "value", report_text(value_of(row)), "gold",
		                        gold_json(row->gold), "label", label_of(dynamics, row), "examples",
		                        (json_int_t)row->n, "all", report_number(row->all), "selected_examples",
		                        (json_int_t)row->selected_n, "selected", report_number(row->selected),
		                        "difference", report_number(row->difference), "low", report_number(row->low),
		                        "high", report_number(row->high)));
	}
	return list;
}

void
groups_report_histogram_csv(struct output *output, const struct forgetting *forgetting)
{
	output_text(output, "forgetting_events,examples,share,never_learned\n");
	for (size_t k = 0; k < forgetting->bins; k++) {
		text_integer(output, k);
		output_bytes(output, ",", 1);
		text_integer(output, forgetting->histogram[k]);
		put_number(output, (double)forgetting->histogram[k] / (double)forgetting->examples);
		output_bytes(output, ",", 1);
		text_integer(output, k == 0 ? forgetting->never_learned : 0);
		output_bytes(output, "\n", 1);
	}
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
