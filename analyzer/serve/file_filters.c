/*
 * file_filters.c: applies the filters of a selection that need the user's own file, for the live page: keeps the
 * examples whose record has certain values in a column, or holds a text. Also writes such a selection with the ids of
 * its examples instead.
 */
#include "file_filters.h"

#include "axes.h"
#include "examples.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
filters_keep_numbers(const struct file_filters *filters, const struct attribute *column, const json_t *filter,
                     uint32_t *kept, size_t *count, struct portolan_error *error)
{
	const json_t *in = json_object_get(filter, "in"), *value;
	CLEANUP_FREE double *values = NULL;
	size_t i;

	json_array_foreach (in, i, value) {
		if (!json_is_number(value) && !json_is_null(value))
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "the selection: column '%.100s' holds numbers: its filter has 'min', 'max', or 'in' with numbers or null",
			        column->name);
	}
	values = view_numbers(filters->view, filters->texts, column);
	return values ? within_keep_numbers(values, filter, kept, count, error)
	              : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
}

/* Sets wanted[] for each category that `in` names. Its last element stands for null: examples without a value. */
static int
filters_mark_wanted(const struct attribute *column, const json_t *in, unsigned char *wanted,
                    struct portolan_error *error)
{
	const json_t *value;
	size_t i;

	json_array_foreach (in, i, value) {
		const char *text = json_string_value(value);
		uint32_t number = text ? names_find(&column->names, text, json_string_length(value)) : NAMES_NONE;

		if (!text && !json_is_null(value))
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "the selection: column '%.100s' holds texts: its filter has 'in' with texts, or null",
			        column->name);
		if (text && number == NAMES_NONE)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "the selection: column '%.100s' has no value '%.100s'", column->name, text);
		wanted[text ? number : column->names.count] = 1;
	}
	return 0;
}

static int
filters_keep_categories(const struct file_filters *filters, const struct attribute *column, const json_t *filter,
                        uint32_t *kept, size_t *count, struct portolan_error *error)
{
	const uint32_t *records = view_records(filters->view, filters->texts);
	const json_t *in = json_object_get(filter, "in");
	CLEANUP_FREE unsigned char *wanted = NULL;
	size_t left = 0;
	int code;

	if (!in || json_object_size(filter) != 1)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "the selection: column '%.100s' holds texts: its filter is {\"in\": […]}",
		                 column->name);
	wanted = records ? calloc(column->names.count + 1, 1) : NULL;
	code = wanted ? filters_mark_wanted(column, in, wanted, error)
	              : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code < 0)
		return code;
	for (size_t i = 0; i < *count; i++) {
		uint32_t record = records[kept[i]];
		int32_t number = record == TEXTS_NO_RECORD ? -1 : column->categories[record];

		if (wanted[number < 0 ? column->names.count : (uint32_t)number])
			kept[left++] = kept[i];
	}
	*count = left;
	return 0;
}

static int
filters_keep_by_column(const struct file_filters *filters, const char *name, const json_t *filter, uint32_t *kept,
                       size_t *count, struct portolan_error *error)
{
	const struct attribute *column;
	int code;

	if (!filters->texts)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "the selection: the server has no --data, so no column '%.100s'", name);
	code = texts_column(filters->texts, name, &column, error);
	if (code < 0)
		return code;
	return column->kind == ATTRIBUTE_NUMBER ? filters_keep_numbers(filters, column, filter, kept, count, error)
	                                        : filters_keep_categories(filters, column, filter, kept, count, error);
}

static int
filters_keep_by_text(const struct file_filters *filters, const char *part, uint32_t *kept, size_t *count,
                     struct portolan_error *error)
{
	const struct ids *ids = &filters->view->dynamics.ids;
	const uint32_t *records = filters->texts ? view_records(filters->view, filters->texts) : NULL;
	CLEANUP_FREE unsigned char *bits = NULL;
	size_t left = 0;
	int code = 0;

	if (filters->texts)
		code = records ? searches_find(filters->searches, part, &bits, error)
		               : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code < 0)
		return code;
	for (size_t i = 0; i < *count; i++) {
		uint32_t record = bits ? records[kept[i]] : TEXTS_NO_RECORD;
		bool is_found = record != TEXTS_NO_RECORD && bits[record / 8] >> record % 8 & 1;

		if (is_found || examples_id_contains(ids, kept[i], part))
			kept[left++] = kept[i];
	}
	*count = left;
	return 0;
}

int
file_filters_keep(void *context, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
                  struct portolan_error *error)
{
	const struct file_filters *filters = context;
	const json_t *parts = json_object_get(filter, "contains"), *part;
	size_t i;
	int code = 0;

	if (strncmp(name, "data:", 5) == 0)
		return filters_keep_by_column(filters, name + 5, filter, kept, count, error);
	json_array_foreach (parts, i, part) {
		if (code >= 0)
			code = filters_keep_by_text(filters, json_string_value(part), kept, count, error);
	}
	return code;
}

int
file_filters_values(void *context, const char *name, double **values, struct portolan_error *error)
{
	const struct file_filters *filters = context;
	struct axis axis;
	int code = axis_make(&axis, "the selection", filters->view, filters->texts, name, false, error);

	if (code >= 0)
		*values = axis_hand_over(&axis);
	return code;
}

/* The members of a selection that draw it. */
static const char *const drawn_members[] = {"x", "y", "polygon", "parts"};
#define DRAWN_MEMBERS (sizeof(drawn_members) / sizeof(*drawn_members))

/* Makes a selection of what needs the file, and of the filter on "id". NULL: nothing needs it, and *replaced is not
 * set. */
static int
filters_read_replaced(struct within **replaced, const struct within *within, struct portolan_error *error)
{
	bool is_drawn = within_is_drawn_on_file(within), found = is_drawn;
	json_t *own = json_object(), *object = json_pack("{s:o}", "filters", own), *filter;
	const char *name;
	char *text;
	int code;

	for (size_t m = 0; m < DRAWN_MEMBERS && is_drawn; m++)
		json_object_set(object, drawn_members[m], json_object_get(within->object, drawn_members[m]));
	json_object_foreach ((json_t *)(uintptr_t)within->filters, name, filter) {
		found |= within_is_of_file(name, filter);
		if (within_is_of_file(name, filter) || strcmp(name, "id") == 0)
			json_object_set(own, name, filter);
	}
	text = found ? json_dumps(object, JSON_COMPACT) : NULL;
	code = text    ? within_parse(replaced, "the selection", text, strlen(text), error)
	       : found ? error_set(error, PORTOLAN_E_MEMORY, "out of memory")
	               : 0;
	free(text);
	json_decref(object);
	return code;
}

/* An id beyond 63 bits is written as text: an integer in a selection has no more bits. */
static void
filters_report_id(struct report *report, const struct ids *ids, uint32_t index)
{
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text = id_print(ids, index, digits, &length);

	if (ids->kind == STORE_ID_INT && ids_integer(ids, index) <= INT64_MAX)
		report_whole(report, NULL, ids_integer(ids, index));
	else
		report_bytes(report, NULL, text, length);
}

/* Writes "id": {"in": […]}. */
static void
filters_report_ids(struct report *report, const struct ids *ids, const uint32_t *kept, size_t count)
{
	report_begin(report, "id");
	report_begin_list(report, "in");
	for (size_t i = 0; i < count; i++)
		filters_report_id(report, ids, kept[i]);
	report_end(report);
	report_end(report);
}

/* Writes the ids of the examples that pass the filters of `replaced`. */
static int
filters_report_replaced(struct report *report, struct file_filters *filters, struct within *replaced,
                        struct portolan_error *error)
{
	const struct within_file file = {file_filters_keep, file_filters_values, filters};
	const struct dynamics *dynamics = &filters->view->dynamics;
	CLEANUP_FREE uint32_t *kept = malloc((dynamics->count + 1) * sizeof(*kept));
	size_t count;
	int code;

	if (!kept)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	replaced->file = file;
	code = within_keep(replaced, dynamics, dynamics->order, dynamics->count, kept, &count, error);
	if (code >= 0)
		filters_report_ids(report, &dynamics->ids, kept, count);
	return code;
}

int
file_filters_report(struct report *report, struct file_filters *filters, const struct within *within,
                    struct portolan_error *error)
{
	struct within *replaced = NULL;
	const char *name;
	json_t *filter;
	int code = filters_read_replaced(&replaced, within, error);

	for (size_t m = 0; m < DRAWN_MEMBERS && !within_is_drawn_on_file(within); m++) {
		const json_t *member = json_object_get(within->object, drawn_members[m]);

		if (member)
			report_json(report, drawn_members[m], member);
	}
	if (code < 0 || (!replaced && !within->filters))
		return code;
	report_begin(report, "filters");
	json_object_foreach ((json_t *)(uintptr_t)within->filters, name, filter) {
		if (!within_is_of_file(name, filter) && !(replaced && strcmp(name, "id") == 0))
			report_json(report, name, filter);
	}
	if (replaced)
		code = filters_report_replaced(report, filters, replaced, error);
	report_end(report);
	within_free(replaced);
	return code;
}
