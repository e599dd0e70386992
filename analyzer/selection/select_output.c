/* select_output.c: writes the examples that `portolan select` has chosen into one output: as ids, as a table, as an
 * array, or as the user's own lines. */
#include "select_output.h"

#include "base/status.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/join.h"
#include "files/lines.h"
#include "options/format.h"
#include "output/npy.h"
#include "output/text.h"
#include "relabel.h"
#include "select_labels.h"
#include "tables/run_table.h"

#include <json_line.h>

#include <stdlib.h>
#include <string.h>

static void
select_write_measures(struct output *output, const struct select_request *request, const struct dynamics *dynamics,
                      const uint32_t *chosen, size_t count)
{
	struct run_table run_table;

	run_table_init(&run_table, dynamics);
	run_table.table.order = chosen;
	run_table.table.rows = count;
	run_table.table.excerpt = option_given(&request->common, "count") ? NULL : "examples";
	must(table_write_to(&run_table.table, output,
	                    request->for_people ? TABLE_ALIGNED : (enum table_format)request->format, &failure));
}

static void
select_write_ids(struct output *output, const struct select_request *request, const struct dynamics *dynamics,
                 const uint32_t *chosen, size_t count)
{
	const struct table_column column = {"id", TABLE_ID, .of = &dynamics->ids};
	const struct table table = {.columns = &column, .column_count = 1, .rows = count, .order = chosen};

	if (request->format == TABLE_NPY) {
		npy_write_header(output, "<u8", count);
		for (size_t i = 0; i < count; i++) {
			const uint64_t id = ids_integer(&dynamics->ids, chosen[i]);

			output_bytes(output, &id, sizeof(id));
		}
	} else if (request->format == SELECT_IDS) {
		for (size_t i = 0; i < count; i++) {
			text_id(output, &dynamics->ids, chosen[i]);
			output_bytes(output, "\n", 1);
		}
	} else {
		must(table_write_to(&table, output, (enum table_format)request->format, &failure));
	}
}

__attribute__((noreturn)) static void
select_refuse_column(const char *path, const char *what, const char *name)
{
	die("%s has a %s '%s' already, which --with-measures adds: rename or remove it there, or leave out --with-measures",
	    path, what, name);
}

/* The measure with this name that is added to every line; NULL: none. */
static const char *
select_find_added(const struct dynamics *dynamics, const struct field *name)
{
	for (size_t c = 0; c < dynamics->column_count; c++)
		if (name->length == strlen(dynamics->columns[c].name) &&
		    memcmp(name->at, dynamics->columns[c].name, name->length) == 0)
			return dynamics->columns[c].name;
	return NULL;
}

static void
select_check_header(const struct join *join, const char *path, const struct dynamics *dynamics, char *text)
{
	const char *at = join->header.at, *end = at + join->header.length;
	struct field field;

	while (at && records_take_field(join->format, &at, end, text, &field)) {
		const char *name;

		field = records_trim(field);
		name = select_find_added(dynamics, &field);
		if (name)
			select_refuse_column(path, "column", name);
	}
}

/* The first of the added measures whose name is already a member of a JSON line; NULL: none. */
static const char *
select_find_added_member(const struct dynamics *dynamics, const struct record *record, char *text)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	struct json_value key, value;

	for (int code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		const char *there;

		if (!json_line_decode(&key, text) || json_line_value(&line, &value) < 0)
			break;
		there = select_find_added(dynamics, &(struct field){key.at, key.size, FIELD_TEXT});
		if (there)
			return there;
	}
	return NULL;
}

static void
select_check_line(const struct join *join, const struct join_match *match, const char *path,
                  const struct dynamics *dynamics, char *text)
{
	const char *there;

	if (join->format != TABLE_JSONL) {
		if (join->file.glue_id || records_count_fields(join->format, &match->record) <=
		                                  records_count_fields(join->format, &join->header))
			return;
		die("%s: record %llu has more fields than the header, so --with-measures cannot name them", path,
		    (unsigned long long)match->number + 1);
	}
	there = select_find_added_member(dynamics, &match->record, text);
	if (there)
		select_refuse_column(path, "field", there);
}

/* Checks, before anything is written, that no line already has a field with the name of an added measure. */
static void
select_check_lines(const struct join *join, const char *path, const struct dynamics *dynamics)
{
	size_t longest = join->header.length;
	CLEANUP_FREE char *text = NULL;

	for (size_t i = 0; i < join->count; i++)
		longest = join->matches[i].record.length > longest ? join->matches[i].record.length : longest;
	text = memory_new(longest + 1, 1);
	if (join->format != TABLE_JSONL)
		select_check_header(join, path, dynamics, text);
	for (size_t i = 0; i < join->count; i++)
		select_check_line(join, &join->matches[i], path, dynamics, text);
}

/* Writes a line with the measures added: before the brace that closes it, or after the header's last column. */
static void
select_write_extended(struct output *output, const struct join *join, const struct record *record,
                      const struct table *measures, size_t position)
{
	size_t length = record->length, fields;

	while (join->format == TABLE_JSONL && length > 0 && record->at[length - 1] != '}')
		length--;
	if (join->format == TABLE_JSONL) {
		output_bytes(output, record->at, length - 1);
	} else {
		lines_record(output, join, record);
		fields = records_count_fields(join->format, record);
		for (; fields < records_count_fields(join->format, &join->header); fields++)
			output_bytes(output, join->format == TABLE_CSV ? "," : "\t", 1);
	}
	table_put_rows(measures, output, join->format, position, 1);
	if (join->format == TABLE_JSONL)
		output_bytes(output, "}", 1);
}

static void
select_write_lines(struct output *output, const struct join *join, const struct dynamics *dynamics,
                   const uint32_t *chosen, bool with_measures)
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
			select_write_extended(output, join, record, &measures, match->position);
		else
			lines_record(output, join, record);
		lines_end(output, record);
	}
}

static void
select_write_numbers(struct output *output, const struct join *join)
{
	npy_write_header(output, "<i8", join->count);
	for (size_t i = 0; i < join->count; i++)
		output_bytes(output, &join->matches[i].number, 8);
}

static void
select_write(struct output *output, const struct select_request *request, const struct join *join,
             const struct dynamics *dynamics, const uint32_t *chosen, size_t count)
{
	if (request->format == TABLE_NPY)
		must(table_check_npy(output, &failure));
	if (request->format == SELECT_LINES)
		select_write_lines(output, join, dynamics, chosen, request->with_measures);
	else if (request->join)
		select_write_numbers(output, join);
	else if (request->with_measures)
		select_write_measures(output, request, dynamics, chosen, count);
	else
		select_write_ids(output, request, dynamics, chosen, count);
}

/* Checks that the joined lines can be written. Returns an exit status. */
static int
select_check_join(const struct select_request *request, const char *path, const struct join *join,
                  const struct dynamics *dynamics, const uint32_t *chosen, size_t count)
{
	if (request->format == SELECT_LINES &&
	    format_of_lines(&request->common, "-o", path, request->join, join->format) != 0)
		return STATUS_USAGE;
	if (request->with_measures)
		select_check_lines(join, request->join, dynamics);
	return join_report(join, request->id_field, &dynamics->ids, chosen, count, "selected ") ? STATUS_DONE
	                                                                                        : STATUS_INCOMPLETE;
}

static int
select_compare_numbers(const void *a, const void *b)
{
	const struct join_match *first = a, *second = b;

	return first->number < second->number ? -1 : first->number > second->number;
}

/* Finds the lines of the chosen examples; those of `all` stay in the order of the file. */
static void
select_open_join(const struct select_request *request, struct join *join, struct relabelled *relabelled,
                 const struct dynamics *dynamics, const uint32_t *chosen, size_t count)
{
	const struct relabel_request corrected = {request->id_field,
	                                          request->label_field,
	                                          request->corrections,
	                                          &request->labels->corrected,
	                                          dynamics,
	                                          chosen};

	must(join_open(join, request->join, request->id_field, request->glue, &dynamics->ids, chosen, count, &failure));
	if (request->label_field)
		relabel(relabelled, &corrected, join);
	if (request->plan.rule.kind == SELECT_BY_ID && !request->within)
		qsort(join->matches, join->count, sizeof(*join->matches), select_compare_numbers);
}

int
select_output(const struct select_request *request, const char *path, const struct dynamics *dynamics,
              const uint32_t *chosen, size_t count)
{
	struct relabelled relabelled = {.lines = NULL};
	struct join join = {0};
	struct output output;
	int status = STATUS_DONE;

	if (request->join) {
		select_open_join(request, &join, &relabelled, dynamics, chosen, count);
		status = select_check_join(request, path, &join, dynamics, chosen, count);
	}
	if (status != STATUS_USAGE) {
		must(output_open(&output, path, &failure));
		select_write(&output, request, &join, dynamics, chosen, count);
		must(output_finish(&output, &failure));
	}
	if (request->join)
		join_free(&join);
	relabelled_free(&relabelled);
	return status;
}
