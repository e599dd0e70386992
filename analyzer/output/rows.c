/* rows.c: see rows.h. Values are written as they come, except in formats whose head depends on them all
 * (rows_kept.h). */
#include "rows.h"

#include "base/message.h"
#include "base/number.h"
#include "rows_kept.h"
#include "text.h"

#include <portolan/error.h>

#include <math.h>
#include <string.h>

const char *const rows_format_names[] = {
        [ROWS_CSV] = "csv", [ROWS_TSV] = "tsv", [ROWS_JSONL] = "jsonl", [ROWS_NPY] = "npy", NULL};

static bool
is_separated(const struct rows *rows)
{
	return rows->format == ROWS_CSV || rows->format == ROWS_TSV;
}

static void
write_string(struct rows *rows, const char *text, size_t length)
{
	if (rows->format == ROWS_CSV && rows->for_spreadsheets)
		text_csv_for_spreadsheets(rows->output, text, length);
	else if (rows->format == ROWS_CSV)
		text_csv(rows->output, text, length);
	else if (rows->format == ROWS_TSV)
		text_tsv(rows->output, text, length);
	else
		text_json(rows->output, text, length);
}

/* Names are written with every value, so those without escapes, which nearly all are, are copied at once. */
static void
write_key(struct output *output, char before, const char *name)
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

/* Writes the separator before a value; in a report, begins its row. Returns its key, for a report. */
static inline const char *
begin_value(struct rows *rows)
{
	const char *name = rows->columns[rows->at].name;
	bool is_first = rows->at == 0 && !rows->continues;

	if (is_separated(rows)) {
		if (!is_first)
			output_bytes(rows->output, rows->format == ROWS_CSV ? "," : "\t", 1);
	} else if (rows->format == ROWS_JSONL) {
		write_key(rows->output, is_first ? '{' : ',', name);
	} else if (rows->format == ROWS_REPORT && is_first) {
		report_begin(rows->report, NULL);
	}
	return name;
}

static void
end_row(struct rows *rows)
{
	rows->at = 0;
	rows->count++;
	if (rows->format == ROWS_REPORT)
		report_end(rows->report);
	else if (!rows->kept && !rows->continues)
		output_text(rows->output, is_separated(rows) ? "\n" : "}\n");
}

static inline void
end_value(struct rows *rows)
{
	if (++rows->at == rows->column_count)
		end_row(rows);
}

void
rows_text(struct rows *rows, const char *text)
{
	if (!text) {
		rows_empty(rows);
	} else if (rows->format != ROWS_JSONL) {
		rows_bytes(rows, text, strlen(text));
	} else {
		begin_value(rows);
		report_print_text(rows->output, text, strlen(text));
		end_value(rows);
	}
}

void
rows_bytes(struct rows *rows, const char *text, size_t length)
{
	const char *name = begin_value(rows);

	if (rows->format == ROWS_REPORT)
		report_bytes(rows->report, name, text, length);
	else if (rows->kept)
		rows_kept_add_text(rows->kept, text, length);
	else
		write_string(rows, text, length);
	end_value(rows);
}

void
rows_whole(struct rows *rows, uint64_t value)
{
	const char *name = begin_value(rows);
	char digits[NUMBER_ROOM];

	if (rows->format == ROWS_REPORT)
		report_whole(rows->report, name, value);
	else if (rows->format == ROWS_ALIGNED && rows->columns[rows->at].kind != ROWS_TEXT)
		rows_kept_add_text(rows->kept, digits, number_print_grouped(value, digits));
	else if (rows->format == ROWS_ALIGNED)
		rows_kept_add_text(rows->kept, digits, number_print_u64(value, digits));
	else if (rows->format != ROWS_NPY)
		text_integer(rows->output, value);
	else if (rows->columns[rows->at].kind == ROWS_TEXT)
		rows_kept_add_text(rows->kept, digits, number_print_u64(value, digits));
	else
		rows_kept_add(rows->kept, value);
	end_value(rows);
}

static void
keep_real(struct rows *rows, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	rows_kept_add(rows->kept, bits);
}

void
rows_real(struct rows *rows, double value)
{
	char digits[TEXT_SHORT_ROOM];
	const char *name;

	if (!isfinite(value)) {
		rows_empty(rows);
		return;
	}
	name = begin_value(rows);
	if (rows->format <= ROWS_JSONL) /* first: most of what is written is this */
		text_number(rows->output, value);
	else if (rows->format == ROWS_REPORT)
		report_real(rows->report, name, value);
	else if (rows->format == ROWS_ALIGNED && rows->columns[rows->at].kind == ROWS_WHOLE && value >= 0)
		rows_kept_add_text(rows->kept, digits, number_print_grouped((uint64_t)value, digits));
	else if (rows->format == ROWS_ALIGNED)
		rows_kept_add_text(rows->kept, digits, text_print_short(value, digits));
	else
		keep_real(rows, value);
	end_value(rows);
}

void
rows_real_or_infinite(struct rows *rows, double value)
{
	const char *infinity = value < 0 ? "-inf" : "inf";

	if (!isinf(value) || rows->format == ROWS_REPORT) {
		rows_real(rows, value);
		return;
	}
	begin_value(rows);
	if (rows->format == ROWS_NPY)
		keep_real(rows, value);
	else if (rows->format == ROWS_ALIGNED)
		rows_kept_add_text(rows->kept, infinity, strlen(infinity));
	else if (rows->format == ROWS_JSONL)
		output_text(rows->output, value < 0 ? "-1e999" : "1e999");
	else
		output_text(rows->output, infinity);
	end_value(rows);
}

void
rows_empty(struct rows *rows)
{
	const char *name = begin_value(rows);
	enum rows_kind kind = rows->columns[rows->at].kind;

	if (rows->format == ROWS_REPORT)
		report_null(rows->report, name);
	else if (rows->format == ROWS_ALIGNED)
		rows_kept_add_text(rows->kept, "-", 1);
	else if (rows->format == ROWS_JSONL)
		output_text(rows->output, "null");
	else if (rows->format == ROWS_NPY && kind == ROWS_TEXT)
		rows_kept_add_text(rows->kept, "", 0);
	else if (rows->format == ROWS_NPY && kind == ROWS_REAL)
		keep_real(rows, NAN);
	else if (rows->format == ROWS_NPY)
		rows_kept_add_empty(rows->kept, UINT64_MAX); /* −1 */
	end_value(rows);
}

/* Names are keys in JSON and npy; in npy they are a line, too. */
static int
check_names(const struct rows *rows, struct portolan_error *error)
{
	bool has_keys = rows->format == ROWS_JSONL || rows->format == ROWS_NPY;

	for (size_t c = 0; c < rows->column_count && has_keys; c++) {
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

struct rows
rows_for(struct output *output, enum rows_format format, const struct rows_column *columns, size_t column_count,
         bool continues)
{
	return (struct rows){.format = format,
	                     .columns = columns,
	                     .column_count = column_count,
	                     .output = output,
	                     .continues = continues};
}

void
rows_head(struct rows *rows)
{
	for (size_t c = 0; c < rows->column_count && is_separated(rows); c++) {
		if (c > 0 || rows->continues)
			output_bytes(rows->output, rows->format == ROWS_CSV ? "," : "\t", 1);
		write_string(rows, rows->columns[c].name, strlen(rows->columns[c].name));
	}
	if (is_separated(rows) && !rows->continues)
		output_bytes(rows->output, "\n", 1);
}

int
rows_check_npy(const struct output *output, struct portolan_error *error)
{
	if (!output_is_terminal(output))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID, "npy is binary: say where it goes with -o FILE.npy");
}

int
rows_open(struct rows *rows, const char *path, enum rows_format format, const struct rows_column *columns,
          size_t column_count, struct portolan_error *error)
{
	int code;

	*rows = rows_for(&rows->file, format, columns, column_count, false);
	code = output_open(&rows->file, path, error);
	if (code < 0)
		return code;
	code = check_names(rows, error);
	if (code >= 0 && format == ROWS_NPY)
		code = rows_check_npy(&rows->file, error);
	if (code >= 0 && (format == ROWS_NPY || format == ROWS_ALIGNED)) {
		rows->kept = rows_kept_new(rows);
		code = rows->kept ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a table");
	}
	if (code < 0)
		output_discard(&rows->file);
	else
		rows_head(rows);
	return code;
}

int
rows_close(struct rows *rows, struct portolan_error *error)
{
	int code = rows->kept ? rows_kept_error(rows->kept, error) : 0;

	if (code >= 0 && rows->format == ROWS_NPY)
		rows_kept_write_npy(rows->kept, rows);
	else if (code >= 0 && rows->format == ROWS_ALIGNED)
		rows_write_aligned(rows);
	rows_kept_free(rows->kept);
	if (code >= 0)
		return output_finish(&rows->file, error);
	output_discard(&rows->file);
	return code;
}

size_t
rows_skip_middle(struct rows *rows, size_t at, size_t count)
{
	if (at != ROWS_SHOWN || count <= 2 * ROWS_SHOWN + 1)
		return at;
	rows->is_excerpt = true;
	for (size_t c = 0; c < rows->column_count; c++)
		rows_bytes(rows, c == 0 ? "…" : "", c == 0 ? strlen("…") : 0);
	return count - ROWS_SHOWN;
}

void
rows_note_excerpt(const struct rows *rows, size_t count, const char *what)
{
	if (rows->is_excerpt)
		message_note("the first and the last %d of %s %s; -o FILE has all", ROWS_SHOWN, NUMBER_GROUPED(count),
		             what);
}

void
rows_begin_aligned(struct rows *rows, struct output *output, const struct rows_column *columns, size_t column_count)
{
	*rows = rows_for(output, ROWS_ALIGNED, columns, column_count, false);
	rows->kept = rows_kept_new(rows);
	if (!rows->kept) { /* the values go nowhere: the output has failed */
		output_fail(rows->output);
		rows->format = ROWS_TSV;
	}
}

void
rows_end_aligned(struct rows *rows)
{
	if (rows->kept && rows_kept_error(rows->kept, NULL) >= 0)
		rows_write_aligned(rows);
	else
		output_fail(rows->output);
	rows_kept_free(rows->kept);
}

void
rows_begin(struct rows *rows, struct report *report, const char *key, const struct rows_column *columns,
           size_t column_count)
{
	if (report->as_text) {
		rows_begin_aligned(rows, &report->output, columns, column_count);
	} else {
		*rows = rows_for(&report->output, ROWS_REPORT, columns, column_count, false);
		report_begin_list(report, key);
	}
	rows->report = report;
}

void
rows_end(struct rows *rows)
{
	if (rows->report->as_text)
		rows_end_aligned(rows);
	else
		report_end(rows->report);
}

struct rows_column
rows_id_column(const struct ids *ids, const char *name)
{
	return (struct rows_column){name, ids->kind == STORE_ID_INT ? ROWS_WHOLE : ROWS_TEXT};
}

void
rows_id(struct rows *rows, const struct ids *ids, uint32_t index)
{
	size_t length;
	const char *text;

	if (ids->kind == STORE_ID_INT) {
		rows_whole(rows, ids->integers[index]);
		return;
	}
	text = ids_text(ids, index, &length);
	rows_bytes(rows, text, length);
}
