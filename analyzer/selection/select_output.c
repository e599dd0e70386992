/* select_output.c: ids, tables, arrays, or the user's own lines. */
#include "select_output.h"

#include "base/message.h"
#include "base/number.h"
#include "files/join.h"
#include "files/lines.h"
#include "options/format.h"
#include "output/npy.h"
#include "output/text.h"
#include "tables/run_table.h"

#include <json_line.h>
#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

const char *const select_format_names[] = {"ids", "csv", "tsv", "jsonl", "npy", NULL};

/* Of a format that is a table's. */
static enum table_format
select_table_format(const struct select_output_options *options)
{
	return (enum table_format)(options->format - SELECT_CSV);
}

static int
write_measures(struct output *output, const struct select_output_options *options, const struct dynamics *dynamics,
               const uint32_t *chosen, size_t count, struct portolan_error *error)
{
	struct run_table run_table;

	run_table_init(&run_table, dynamics);
	run_table.table.order = chosen;
	run_table.table.rows = count;
	run_table.table.excerpt = options->with_all ? NULL : "examples";
	return table_write_to(&run_table.table, output,
	                      options->for_people ? TABLE_ALIGNED : select_table_format(options), error);
}

static int
write_ids(struct output *output, const struct select_output_options *options, const struct dynamics *dynamics,
          const uint32_t *chosen, size_t count, struct portolan_error *error)
{
	const struct table_column column = {"id", TABLE_ID, .of = &dynamics->ids};
	const struct table table = {.columns = &column, .column_count = 1, .rows = count, .order = chosen};

	if (options->format == SELECT_NPY)
		npy_write_header(output, "<u8", count);
	else if (options->format != SELECT_IDS)
		return table_write_to(&table, output, select_table_format(options), error);
	for (size_t i = 0; i < count; i++) {
		if (options->format == SELECT_NPY) {
			output_bytes(output, &dynamics->ids.integers[chosen[i]], 8);
		} else {
			text_id(output, &dynamics->ids, chosen[i]);
			output_bytes(output, "\n", 1);
		}
	}
	return 0;
}

static int
refuse_column(const char *path, const char *what, const char *name, struct portolan_error *error)
{
	return error_set(
	        error, PORTOLAN_E_INVALID,
	        "%s has a %s '%s' already, which --with-measures adds: rename or remove it there, or leave out --with-measures",
	        path, what, name);
}

/* The measure of this name that is added to every line; NULL: none. */
static const char *
find_added(const struct dynamics *dynamics, const struct field *name)
{
	for (size_t c = 0; c < dynamics->column_count; c++)
		if (name->length == strlen(dynamics->columns[c].name) &&
		    memcmp(name->at, dynamics->columns[c].name, name->length) == 0)
			return dynamics->columns[c].name;
	return NULL;
}

static int
check_header(const struct join *join, const char *path, const struct dynamics *dynamics, char *text,
             struct portolan_error *error)
{
	const char *at = join->header.at, *end = at + join->header.length;
	struct field field;

	while (at && records_take_field(join->format, &at, end, text, &field)) {
		const char *name;

		field = records_trim(field);
		name = find_added(dynamics, &field);
		if (name)
			return refuse_column(path, "column", name, error);
	}
	return 0;
}

/* The first of the added measures that a JSON line has already; NULL: none. */
static const char *
find_added_member(const struct dynamics *dynamics, const struct record *record, char *text)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	struct json_value key, value;

	for (int code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		const char *there;

		if (!json_line_decode(&key, text) || json_line_value(&line, &value) < 0)
			break;
		there = find_added(dynamics, &(struct field){key.at, key.size, FIELD_TEXT});
		if (there)
			return there;
	}
	return NULL;
}

static int
check_line(const struct join *join, const struct join_match *match, const char *path, const struct dynamics *dynamics,
           char *text, struct portolan_error *error)
{
	const char *there;

	if (join->format != RECORDS_JSONL) {
		if (join->file.glue_id || records_count_fields(join->format, &match->record) <=
		                                  records_count_fields(join->format, &join->header))
			return 0;
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: record %llu has more fields than the header, so --with-measures cannot name them",
		                 path, (unsigned long long)match->number + 1);
	}
	there = find_added_member(dynamics, &match->record, text);
	return there ? refuse_column(path, "field", there, error) : 0;
}

/* Checks, before anything is written, that no line already has a field with the name of an added measure. */
static int
check_lines(const struct join *join, const char *path, const struct dynamics *dynamics, struct portolan_error *error)
{
	size_t longest = join->header.length;
	char *text;
	int code = 0;

	for (size_t i = 0; i < join->count; i++)
		longest = join->matches[i].record.length > longest ? join->matches[i].record.length : longest;
	text = malloc(longest + 1);
	if (!text)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for a line of %s", path);
	if (join->format != RECORDS_JSONL)
		code = check_header(join, path, dynamics, text, error);
	for (size_t i = 0; i < join->count && code >= 0; i++)
		code = check_line(join, &join->matches[i], path, dynamics, text, error);
	free(text);
	return code;
}

/* A line with the measures before the brace that closes it, or after the header's last column. */
static void
write_extended(struct output *output, const struct join *join, const struct record *record,
               const struct table *measures, size_t position)
{
	size_t length = record->length, fields;

	while (join->format == RECORDS_JSONL && length > 0 && record->at[length - 1] != '}')
		length--;
	if (join->format == RECORDS_JSONL) {
		output_bytes(output, record->at, length - 1);
	} else {
		lines_record(output, join, record);
		fields = records_count_fields(join->format, record);
		for (; fields < records_count_fields(join->format, &join->header); fields++)
			output_bytes(output, join->format == RECORDS_CSV ? "," : "\t", 1);
	}
	table_put_rows(measures, output, lines_format(join), position, 1);
	if (join->format == RECORDS_JSONL)
		output_bytes(output, "}", 1);
}

static void
write_lines(struct output *output, const struct join *join, const struct dynamics *dynamics, const uint32_t *chosen,
            bool with_measures)
{
	struct run_table run_table;
	struct table measures;

	run_table_init(&run_table, dynamics);
	measures = (struct table){.columns = run_table.columns + RUN_TABLE_FIRST,
	                          .column_count = dynamics->column_count,
	                          .order = chosen,
	                          .continues = true};
	lines_head(output, join, with_measures ? &measures : NULL);
	for (size_t i = 0; i < join->count; i++) {
		const struct join_match *match = &join->matches[i];
		const struct record *record = &match->record;

		if (with_measures)
			write_extended(output, join, record, &measures, match->position);
		else
			lines_record(output, join, record);
		lines_end(output, record);
	}
}

static void
write_numbers(struct output *output, const struct join *join)
{
	npy_write_header(output, "<i8", join->count);
	for (size_t i = 0; i < join->count; i++)
		output_bytes(output, &join->matches[i].number, 8);
}

static int
write_selection(struct output *output, const struct select_output_options *options, const struct join *join,
                const struct dynamics *dynamics, const uint32_t *chosen, size_t count, struct portolan_error *error)
{
	int code = options->format == SELECT_NPY ? table_check_npy(output, error) : 0;

	if (code < 0)
		return code;
	if (options->format == SELECT_LINES)
		write_lines(output, join, dynamics, chosen, options->with_measures);
	else if (join)
		write_numbers(output, join);
	else if (options->with_measures)
		return write_measures(output, options, dynamics, chosen, count, error);
	else
		return write_ids(output, options, dynamics, chosen, count, error);
	return 0;
}

static int
check_join(const struct select_output_options *options, const struct join *join, const struct dynamics *dynamics,
           const uint32_t *chosen, size_t count, struct portolan_error *error)
{
	int code = options->format == SELECT_LINES
	                   ? format_of_lines(options->common, "-o", options->path, options->join, join->format)
	                   : 0;

	if (code == 0 && options->with_measures)
		code = check_lines(join, options->join, dynamics, error);
	if (code != 0)
		return code;
	return join_report(join, options->id_field, &dynamics->ids, chosen, count, "selected ") ? STATUS_DONE
	                                                                                        : STATUS_INCOMPLETE;
}

static int
write_output(const struct select_output_options *options, const struct join *join, const struct dynamics *dynamics,
             const uint32_t *chosen, size_t count, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, options->path, error);

	if (code < 0)
		return code;
	code = write_selection(&output, options, join, dynamics, chosen, count, error);
	return output_end(&output, code, error);
}

int
select_output(const struct select_output_options *options, const struct dynamics *dynamics, const uint32_t *chosen,
              size_t count, struct portolan_error *error)
{
	struct join join;
	int code, status;

	if (!options->join)
		return write_output(options, NULL, dynamics, chosen, count, error);
	status =
	        join_open(&join, options->join, options->id_field, options->glue, &dynamics->ids, chosen, count, error);
	if (status < 0)
		return status;
	status = check_join(options, &join, dynamics, chosen, count, error);
	if (status >= 0 && status != STATUS_USAGE) {
		code = write_output(options, &join, dynamics, chosen, count, error);
		status = code < 0 ? code : status;
	}
	join_free(&join);
	return status;
}
