/*
 * rows.c: see rows.h. Text is written as the values come. npy's head says how wide texts are and how many rows follow,
 * so that its cells are kept until then: 8 bytes each, and the texts.
 */
#include "rows.h"

#include "npy.h"
#include "program/number.h"
#include "report.h"
#include "text.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rows_format_names[] = {
        [ROWS_CSV] = "csv", [ROWS_TSV] = "tsv", [ROWS_JSONL] = "jsonl", [ROWS_NPY] = "npy", [ROWS_JSON] = "json", NULL};

static bool
is_separated(const struct rows *rows)
{
	return rows->format == ROWS_CSV || rows->format == ROWS_TSV;
}

static void
write_string(struct rows *rows, const char *text, size_t length)
{
	if (rows->format == ROWS_CSV)
		text_csv(&rows->output, text, length);
	else if (rows->format == ROWS_TSV)
		text_tsv(&rows->output, text, length);
	else
		text_json(&rows->output, text, length);
}

/* What stands before a value. */
static void
begin_value(struct rows *rows)
{
	const char *name = rows->columns[rows->at].name;

	if (is_separated(rows)) {
		if (rows->at > 0)
			output_text(&rows->output, rows->format == ROWS_CSV ? "," : "\t");
		return;
	}
	if (rows->at == 0 && rows->format == ROWS_JSON && rows->count > 0)
		output_text(&rows->output, ",\n");
	output_text(&rows->output, rows->at == 0 ? "{" : ",");
	text_json(&rows->output, name, strlen(name));
	output_text(&rows->output, ":");
}

static void
end_row(struct rows *rows)
{
	rows->at = 0;
	rows->count++;
	if (rows->format == ROWS_LIST) {
		if (json_array_append_new(rows->list, rows->object) < 0)
			output_fail(&rows->output);
		rows->object = json_object();
	} else if (rows->format != ROWS_NPY) {
		output_text(&rows->output, is_separated(rows) ? "\n" : rows->format == ROWS_JSONL ? "}\n" : "}");
	}
}

static void
end_value(struct rows *rows)
{
	if (++rows->at == rows->column_count)
		end_row(rows);
}

static void
add_json(struct rows *rows, json_t *value)
{
	if (json_object_set_new(rows->object, rows->columns[rows->at].name, value) < 0)
		output_fail(&rows->output);
	end_value(rows);
}

static void
add_cell(struct rows *rows, uint64_t cell)
{
	if (rows->cell_count == rows->cell_room) {
		size_t room = rows->cell_room ? 2 * rows->cell_room : 1024;
		uint64_t *cells = realloc(rows->cells, room * sizeof(*cells));

		if (!cells) {
			output_fail(&rows->output);
			return;
		}
		rows->cells = cells;
		rows->cell_room = room;
	}
	rows->cells[rows->cell_count++] = cell;
	end_value(rows);
}

static void
add_text_cell(struct rows *rows, const char *text, size_t length)
{
	size_t *width = &rows->widths[rows->at], start = rows->texts.used;

	*width = length > *width ? length : *width;
	output_bytes(&rows->texts, text, length);
	output_bytes(&rows->texts, "", 1);
	add_cell(rows, start);
}

static void
add_real_cell(struct rows *rows, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	add_cell(rows, bits);
}

void
rows_text(struct rows *rows, const char *text)
{
	json_t *string;

	if (!text) {
		rows_empty(rows);
	} else if (rows->format == ROWS_LIST) {
		add_json(rows, report_text(text));
	} else if (rows->format != ROWS_JSON && rows->format != ROWS_JSONL) {
		rows_bytes(rows, text, strlen(text));
	} else {
		string = report_text(text);
		if (string)
			rows_bytes(rows, json_string_value(string), json_string_length(string));
		else
			output_fail(&rows->output);
		json_decref(string);
	}
}

void
rows_bytes(struct rows *rows, const char *text, size_t length)
{
	if (rows->format == ROWS_LIST) {
		add_json(rows, json_stringn(text, length));
	} else if (rows->format == ROWS_NPY) {
		add_text_cell(rows, text, length);
	} else {
		begin_value(rows);
		write_string(rows, text, length);
		end_value(rows);
	}
}

void
rows_whole(struct rows *rows, uint64_t value)
{
	char digits[NUMBER_ROOM];

	if (rows->format == ROWS_LIST) {
		add_json(rows, json_integer((json_int_t)value));
	} else if (rows->format != ROWS_NPY) {
		begin_value(rows);
		text_integer(&rows->output, value);
		end_value(rows);
	} else if (rows->columns[rows->at].kind == ROWS_TEXT) {
		add_text_cell(rows, digits, number_print_u64(value, digits));
	} else {
		add_cell(rows, value);
	}
}

void
rows_real(struct rows *rows, double value)
{
	if (!isfinite(value)) {
		rows_empty(rows);
	} else if (rows->format == ROWS_LIST) {
		add_json(rows, json_real(value));
	} else if (rows->format == ROWS_NPY) {
		add_real_cell(rows, value);
	} else {
		begin_value(rows);
		text_number(&rows->output, value);
		end_value(rows);
	}
}

void
rows_empty(struct rows *rows)
{
	enum rows_kind kind = rows->columns[rows->at].kind;

	if (rows->format == ROWS_LIST) {
		add_json(rows, json_null());
	} else if (rows->format != ROWS_NPY) {
		begin_value(rows);
		if (!is_separated(rows))
			output_text(&rows->output, "null");
		end_value(rows);
	} else if (kind == ROWS_TEXT) {
		add_text_cell(rows, "", 0);
	} else if (kind == ROWS_REAL) {
		add_real_cell(rows, NAN);
	} else {
		rows->widths[rows->at] = 1;
		add_cell(rows, UINT64_MAX); /* −1 */
	}
}

static void
write_npy_head(struct rows *rows)
{
	struct npy_field *fields = calloc(rows->column_count, sizeof(*fields));

	for (size_t c = 0; fields && c < rows->column_count; c++) {
		enum rows_kind kind = rows->columns[c].kind;
		size_t width = rows->widths[c];

		fields[c].name = rows->columns[c].name;
		if (kind == ROWS_TEXT)
			snprintf(fields[c].type, sizeof(fields[c].type), "S%zu", width ? width : 1);
		else
			snprintf(fields[c].type, sizeof(fields[c].type), "%s",
			         kind == ROWS_REAL ? "<f8"
			         : width           ? "<i8"
			                           : "<u8");
	}
	if (fields)
		npy_write_records_header(&rows->output, fields, rows->column_count, rows->count);
	else
		output_fail(&rows->output);
	free(fields);
}

static void
write_npy(struct rows *rows)
{
	if (rows->texts.failure != 0)
		output_fail(&rows->output);
	if (rows->output.failure != 0) /* some cells are not there, and others are not where they belong */
		return;
	write_npy_head(rows);
	for (size_t i = 0; i < rows->cell_count; i++) {
		size_t c = i % rows->column_count, width = rows->widths[c] ? rows->widths[c] : 1;

		if (rows->columns[c].kind == ROWS_TEXT) {
			const char *text = rows->texts.buffer + rows->cells[i];
			size_t length = strlen(text);

			output_bytes(&rows->output, text, length);
			for (; length < width; length++)
				output_bytes(&rows->output, "", 1);
		} else {
			output_bytes(&rows->output, &rows->cells[i], sizeof(rows->cells[i]));
		}
	}
}

/* Names are keys in JSON and npy; in npy they are a line, too. */
static int
check_names(const struct rows *rows, struct portolan_error *error)
{
	for (size_t c = 0; c < rows->column_count; c++) {
		const char *name = rows->columns[c].name;

		for (size_t b = 0; b < c; b++)
			if (strcmp(name, rows->columns[b].name) == 0)
				return error_set(error, PORTOLAN_E_INVALID,
				                 "two columns are named '%s', which %s cannot tell apart: write csv",
				                 name, rows_format_names[rows->format]);
		for (; *name && rows->format == ROWS_NPY; name++)
			if ((unsigned char)*name < ' ')
				return error_set(error, PORTOLAN_E_INVALID,
				                 "the column '%s' cannot be a name in npy: write csv",
				                 rows->columns[c].name);
	}
	return 0;
}

static int
begin_npy(struct rows *rows, struct portolan_error *error)
{
	if (output_is_terminal(&rows->output))
		return error_set(error, PORTOLAN_E_INVALID, "npy is binary: say where it goes with -o FILE.npy");
	rows->widths = calloc(rows->column_count, sizeof(*rows->widths));
	if (!rows->widths)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a table");
	return output_open_memory(&rows->texts, 4096, error);
}

int
rows_open(struct rows *rows, const char *path, enum rows_format format, const struct rows_column *columns,
          size_t column_count, struct portolan_error *error)
{
	int code;

	*rows = (struct rows){.format = format, .columns = columns, .column_count = column_count, .texts.fd = -1};
	code = output_open(&rows->output, path, error);
	if (code < 0)
		return code;
	if (!is_separated(rows))
		code = check_names(rows, error);
	if (code >= 0 && format == ROWS_NPY)
		code = begin_npy(rows, error);
	if (code < 0) {
		output_discard(&rows->output);
		free(rows->widths);
		return code;
	}
	for (size_t c = 0; c < column_count && is_separated(rows); c++) {
		output_text(&rows->output, c == 0 ? "" : format == ROWS_CSV ? "," : "\t");
		write_string(rows, columns[c].name, strlen(columns[c].name));
	}
	if (format != ROWS_JSONL && format != ROWS_NPY)
		output_text(&rows->output, format == ROWS_JSON ? "[" : "\n");
	return 0;
}

int
rows_close(struct rows *rows, struct portolan_error *error)
{
	if (rows->format == ROWS_NPY)
		write_npy(rows);
	else if (rows->format == ROWS_JSON)
		output_text(&rows->output, "]\n");
	free(rows->cells);
	free(rows->widths);
	output_discard(&rows->texts);
	return output_finish(&rows->output, error);
}

void
rows_begin_list(struct rows *rows, const struct rows_column *columns, size_t column_count)
{
	*rows = (struct rows){.format = ROWS_LIST,
	                      .columns = columns,
	                      .column_count = column_count,
	                      .list = json_array(),
	                      .object = json_object()};
}

json_t *
rows_end_list(struct rows *rows)
{
	json_decref(rows->object);
	if (rows->output.failure == 0)
		return rows->list; /* NULL: there was no memory for it */
	json_decref(rows->list);
	return NULL;
}
