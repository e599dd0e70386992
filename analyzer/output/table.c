/*
 * table.c: writes the tables of all commands: CSV, TSV and JSON lines itself, npy and aligned columns by table_npy.c
 * and table_aligned.c. It also puts tables into reports.
 *
 * A row costs no function call but those that write its values: tables of ten million rows are written here, by several
 * threads.
 */
#include "table.h"

#include "base/message.h"
#include "base/number.h"
#include "table_aligned.h"
#include "table_cell.h"
#include "table_npy.h"
#include "text.h"

#include <portolan/error.h>

/* how many rows ahead values are fetched: where rows have an order of their own, their values lie anywhere */
#define AHEAD 16

const char *const table_format_names[] = {
        [TABLE_CSV] = "csv", [TABLE_TSV] = "tsv", [TABLE_JSONL] = "jsonl", [TABLE_NPY] = "npy", NULL};

/* The key of a value in JSON lines. It comes with every value, so one without escapes, as nearly all are, is copied at
 * once. */
static void
table_put_key(struct output *output, char before, const char *name)
{
	size_t length = strlen(name);
	bool is_plain = length < 1000;
	char *at;

	for (size_t i = 0; i < length; i++)
		is_plain &= (unsigned char)name[i] >= ' ' && name[i] != '"' && name[i] != '\\';
	if (!is_plain) {
		output_bytes(output, &before, 1);
		text_json(output, name, length);
		output_bytes(output, ":", 1);
		return;
	}
	at = output_reserve(output, length + 4);
	*at++ = before;
	*at++ = '"';
	at = mempcpy(at, name, length);
	*at++ = '"';
	*at++ = ':';
	output_commit(output, at);
}

static void
table_put_text(const struct table *table, struct output *output, enum table_format format, enum table_type type,
               const char *text, size_t length)
{
	if (format == TABLE_CSV && table->for_spreadsheets)
		text_csv_for_spreadsheets(output, text, length);
	else if (format == TABLE_CSV)
		text_csv(output, text, length);
	else if (format == TABLE_TSV)
		text_tsv(output, text, length);
	else if (type == TABLE_ID || type == TABLE_ID_AT) /* text ids are always UTF-8 */
		text_json(output, text, length);
	else
		report_print_text(output, text, length);
}

static inline void
table_put_real(struct output *output, enum table_format format, double value)
{
	if (isfinite(value))
		text_number(output, value);
	else if (format == TABLE_JSONL)
		output_text(output, value < 0 ? "-1e999" : "1e999");
	else
		output_text(output, value < 0 ? "-inf" : "inf");
}

static inline void
table_put_cell(const struct table *table, struct output *output, enum table_format format,
               const struct table_column *column, size_t row)
{
	struct table_cell cell = table_cell_read(table, column, row);

	if (cell.kind == TABLE_REAL)
		table_put_real(output, format, cell.real);
	else if (cell.kind == TABLE_WHOLE)
		text_integer(output, cell.whole);
	else if (cell.kind == TABLE_STRING)
		table_put_text(table, output, format, column->type, cell.text, cell.length);
	else if (format == TABLE_JSONL)
		output_bytes(output, "null", 4);
}

void
table_put_head(const struct table *table, struct output *output, enum table_format format)
{
	if (format == TABLE_JSONL)
		return;
	for (size_t c = 0; c < table->column_count; c++) {
		const char *name = table->columns[c].name;

		if (c > 0 || table->continues)
			output_bytes(output, format == TABLE_CSV ? "," : "\t", 1);
		table_put_text(table, output, format, TABLE_TEXT, name, strlen(name));
	}
	if (!table->continues)
		output_bytes(output, "\n", 1);
}

/* Always inlined, for the reason that names_prefetch() gives. */
static inline __attribute__((always_inline)) void
table_fetch(const struct table *table, size_t row)
{
	for (size_t c = 0; c < table->column_count; c++) {
		const struct table_column *column = &table->columns[c];

		if (column->type == TABLE_ID && ((const struct ids *)column->of)->integers)
			__builtin_prefetch(&((const struct ids *)column->of)->integers[row]);
		else if (column->values)
			__builtin_prefetch(table_first(table, column) + row * table_stride(table, column));
	}
}

void
table_put_rows(const struct table *table, struct output *output, enum table_format format, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		size_t row = table_row(table, i);

		if (table->order && i + AHEAD < first + count)
			table_fetch(table, table->order[i + AHEAD]);
		for (size_t c = 0; c < table->column_count; c++) {
			bool is_first = c == 0 && !table->continues;

			if (format == TABLE_JSONL)
				table_put_key(output, is_first ? '{' : ',', table->columns[c].name);
			else if (!is_first)
				output_bytes(output, format == TABLE_CSV ? "," : "\t", 1);
			table_put_cell(table, output, format, &table->columns[c], row);
		}
		if (!table->continues)
			output_text(output, format == TABLE_JSONL ? "}\n" : "\n");
	}
}

int
table_check_npy(const struct output *output, struct portolan_error *error)
{
	if (!output_is_terminal(output))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "npy is binary: say where it goes with -o FILE.npy");
}

/* Checks that no two columns have the same name, which is a key in JSON and npy; and that for npy no name has control
 * characters. */
static int
table_check_names(const struct table *table, enum table_format format, struct portolan_error *error)
{
	bool has_keys = format == TABLE_JSONL || format == TABLE_NPY;

	for (size_t c = 0; c < table->column_count && has_keys; c++) {
		const char *name = table->columns[c].name;

		for (size_t b = 0; b < c; b++)
			if (strcmp(name, table->columns[b].name) == 0)
				return error_set(error, PORTOLAN_E_INVALID,
				                 "two columns are named '%s', which %s cannot tell apart: write csv",
				                 name, table_format_names[format]);
		for (; *name && format == TABLE_NPY; name++)
			if ((unsigned char)*name < ' ')
				return error_set(error, PORTOLAN_E_INVALID,
				                 "the column '%s' cannot be a name in npy: write csv",
				                 table->columns[c].name);
	}
	return 0;
}

struct table
table_cut(const struct table *table, uint32_t ends[2 * TABLE_ENDS])
{
	struct table cut = *table;

	if (table->rows <= 2 * TABLE_ENDS + 1)
		return cut;
	for (size_t i = 0; i < TABLE_ENDS; i++) {
		ends[i] = (uint32_t)table_row(table, i);
		ends[TABLE_ENDS + i] = (uint32_t)table_row(table, table->rows - TABLE_ENDS + i);
	}
	cut.order = ends;
	cut.left_out = table->rows - 2 * TABLE_ENDS;
	cut.rows = 2 * TABLE_ENDS;
	return cut;
}

static void
table_put_for_people(const struct table *table, struct output *output)
{
	uint32_t ends[2 * TABLE_ENDS];
	struct table shown = table->excerpt && table->left_out == 0 ? table_cut(table, ends) : *table;

	table_put_aligned(&shown, output, false);
	if (shown.left_out > 0 && output_flush(output, NULL) >= 0)
		message_note("the first and the last %d of %s %s; -o FILE has all", TABLE_ENDS,
		             NUMBER_GROUPED(shown.rows + shown.left_out), shown.excerpt);
}

int
table_write_to(const struct table *table, struct output *output, enum table_format format, struct portolan_error *error)
{
	int code = table_check_names(table, format, error);

	if (code >= 0 && format == TABLE_NPY)
		code = table_check_npy(output, error);
	if (code < 0)
		return code;
	if (format == TABLE_NPY)
		return table_put_npy(table, output, error);
	if (format == TABLE_ALIGNED) {
		table_put_for_people(table, output);
		return 0;
	}
	table_put_head(table, output, format);
	table_put_rows(table, output, format, 0, table->rows);
	return 0;
}

int
table_write(const struct table *table, const char *path, enum table_format format, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = table_write_to(table, &output, format, error);
	return output_end(&output, code, error);
}

static void
table_report_cell(struct report *report, const char *key, const struct table_cell *cell)
{
	if (cell->kind == TABLE_REAL)
		report_real(report, key, cell->real);
	else if (cell->kind == TABLE_WHOLE)
		report_whole(report, key, cell->whole);
	else if (cell->kind == TABLE_STRING)
		report_bytes(report, key, cell->text, cell->length);
	else
		report_null(report, key);
}

void
table_report(struct report *report, const char *key, const struct table *table)
{
	if (report->as_text) {
		table_put_aligned(table, &report->output, true);
		return;
	}
	report_begin_list(report, key);
	for (size_t i = 0; i < table->rows; i++) {
		report_begin(report, NULL);
		for (size_t c = 0; c < table->column_count; c++) {
			struct table_cell cell = table_cell_read(table, &table->columns[c], table_row(table, i));

			table_report_cell(report, table->columns[c].name, &cell);
		}
		report_end(report);
	}
	report_end(report);
}
