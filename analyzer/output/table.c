/* table.c: CSV, TSV and JSON lines, and which format is whose; see table.h. Numbers read back exactly. */
#include "table.h"

#include "table_format.h"
#include "text.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
table_write_id(struct output *output, const struct dynamics *dynamics, uint32_t index, table_write_text *write_text)
{
	size_t length;
	const char *text;

	if (dynamics->ids.kind == STORE_ID_INT) {
		text_integer(output, dynamics->ids.integers[index]);
		return;
	}
	text = ids_text(&dynamics->ids, index, &length);
	write_text(output, text, length);
}

struct rows_column
table_id_column(const struct dynamics *dynamics, const char *name)
{
	return (struct rows_column){name, dynamics->ids.kind == STORE_ID_INT ? ROWS_WHOLE : ROWS_TEXT};
}

void
table_add_id(struct rows *rows, const struct dynamics *dynamics, uint32_t index)
{
	size_t length;
	const char *text;

	if (dynamics->ids.kind == STORE_ID_INT) {
		rows_whole(rows, dynamics->ids.integers[index]);
		return;
	}
	text = ids_text(&dynamics->ids, index, &length);
	rows_bytes(rows, text, length);
}

void
table_write_names(struct output *output, const struct dynamics *dynamics, char separator)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const char *name = dynamics->columns[c].name;

		output_bytes(output, &separator, 1);
		if (separator == ',')
			text_csv(output, name, strlen(name));
		else
			output_text(output, name);
	}
}

void
table_write_values(struct output *output, const struct dynamics *dynamics, uint32_t index, char separator)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		double value = dynamics->columns[c].values[index];

		output_bytes(output, &separator, 1);
		if (isinf(value))
			output_text(output, "inf");
		else if (!isnan(value))
			text_number(output, value);
	}
}

/* JSON has no infinity; readers make one of a number that is too large for them. */
void
table_write_json_number(struct output *output, double value)
{
	if (isnan(value))
		output_text(output, "null");
	else if (isinf(value))
		output_text(output, "1e999");
	else
		text_number(output, value);
}

void
table_write_members(struct output *output, const struct dynamics *dynamics, uint32_t index)
{
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		output_bytes(output, ",", 1);
		text_json(output, column->name, strlen(column->name));
		output_bytes(output, ":", 1);
		table_write_json_number(output, column->values[index]);
	}
}

/* CSV and TSV. */
static void
text_head(struct output *output, const struct dynamics *run, char separator)
{
	output_printf(output, "id%cgold", separator);
	table_write_names(output, run, separator);
	if (run->info->label_count > 0)
		output_printf(output, "%clabel", separator);
	output_bytes(output, "\n", 1);
}

static void
text_rows(struct output *output, const struct dynamics *part, const uint32_t *rows, size_t count, char separator)
{
	table_write_text *write_text = separator == ',' ? text_csv : text_tsv;
	bool labels = part->info->label_count > 0;

	for (size_t i = 0; i < count; i++) {
		const char *label = dynamics_label(part, rows[i]);

		table_write_id(output, part, rows[i], write_text);
		output_bytes(output, &separator, 1);
		if (part->gold[rows[i]] >= 0)
			text_integer(output, (uint64_t)part->gold[rows[i]]);
		table_write_values(output, part, rows[i], separator);
		if (labels)
			output_bytes(output, &separator, 1);
		if (labels && label)
			write_text(output, label, strlen(label));
		output_bytes(output, "\n", 1);
	}
}

static void
jsonl_rows(struct output *output, const struct dynamics *part, const uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *label = dynamics_label(part, rows[i]);

		output_text(output, "{\"id\":");
		table_write_id(output, part, rows[i], text_json);
		output_text(output, ",\"gold\":");
		if (part->gold[rows[i]] >= 0)
			text_integer(output, (uint64_t)part->gold[rows[i]]);
		else
			output_text(output, "null");
		table_write_members(output, part, rows[i]);
		if (part->info->label_count > 0) {
			output_text(output, ",\"label\":");
			if (label)
				text_json(output, label, strlen(label));
			else
				output_text(output, "null");
		}
		output_text(output, "}\n");
	}
}

static void
aum_rows(struct output *output, const struct dynamics *part, const uint32_t *rows, size_t count)
{
	const double *aum = dynamics_measure(part, MEASURE_AUM);

	for (size_t i = 0; i < count; i++) {
		if (isnan(aum[rows[i]]))
			continue;
		table_write_id(output, part, rows[i], text_csv);
		output_bytes(output, ",", 1);
		text_number(output, aum[rows[i]]);
		output_bytes(output, "\n", 1);
	}
}

int
table_init(struct table *table, enum table_format format, const struct dynamics *run, const struct text_extent *ids,
           struct portolan_error *error)
{
	*table = (struct table){.format = format, .run = run};
	return format == TABLE_NPY ? table_record_new(&table->record, run, ids, error) : 0;
}

void
table_free(struct table *table)
{
	free(table->record);
	table->record = NULL;
}

void
table_write_head(const struct table *table, struct output *output, uint64_t rows)
{
	if (table->format == TABLE_CSV || table->format == TABLE_TSV)
		text_head(output, table->run, table->format == TABLE_CSV ? ',' : '\t');
	else if (table->format == TABLE_AUM)
		output_text(output, "sample_id,aum\n");
	else if (table->format == TABLE_NPY)
		table_record_head(table->record, output, rows);
}

void
table_write_rows(const struct table *table, struct output *output, const struct dynamics *part, const uint32_t *rows,
                 size_t count)
{
	switch (table->format) {
	case TABLE_CSV:
	case TABLE_TSV:
		text_rows(output, part, rows, count, table->format == TABLE_CSV ? ',' : '\t');
		return;
	case TABLE_JSONL:
		jsonl_rows(output, part, rows, count);
		return;
	case TABLE_NPY:
		table_record_rows(table->record, output, part, rows, count);
		return;
	case TABLE_CARTOGRAPHY:
		table_write_cartography(output, part, rows, count, table->with_ci);
		return;
	case TABLE_AUM:
		aum_rows(output, part, rows, count);
		return;
	case TABLE_FORMATS:
		return;
	}
}

int
table_check(const struct output *output, enum table_format format, struct portolan_error *error)
{
	if (format != TABLE_NPY || !output_is_terminal(output))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "npy is binary: say where it goes with -o FILE.npy");
}

static int
write_all(struct output *output, enum table_format format, const struct dynamics *dynamics,
          struct portolan_error *error)
{
	struct text_extent extent = {0};
	struct table table;
	int code = table_check(output, format, error);

	for (size_t i = 0; dynamics->ids.kind == STORE_ID_STR && i < dynamics->count; i++) {
		size_t length;
		const char *text = ids_text(&dynamics->ids, dynamics->order[i], &length);

		text_extent_add(&extent, text, length);
	}
	if (code >= 0)
		code = table_init(&table, format, dynamics, &extent, error);
	if (code < 0)
		return code;
	if (format == TABLE_NPY && output_can_patch(output)) /* a file, not another program */
		table_note_wide_ids(&extent);
	table_write_head(&table, output, dynamics->count);
	table_write_rows(&table, output, dynamics, dynamics->order, dynamics->count);
	table_free(&table);
	return 0;
}

int
table_print(const char *path, enum table_format format, const struct dynamics *dynamics, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = write_all(&output, format, dynamics, error);
	if (code >= 0)
		return output_finish(&output, error);
	output_discard(&output);
	return code;
}

uint32_t
table_measures(enum table_format format, bool with_ci)
{
	if (format == TABLE_AUM)
		return MEASURE_BIT(MEASURE_AUM);
	if (format != TABLE_CARTOGRAPHY)
		return MEASURE_ALL;
	return MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS) | MEASURE_BIT(MEASURE_CONFIDENCE) |
	       MEASURE_BIT(with_ci ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_CORRECTNESS) |
	       MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
}
