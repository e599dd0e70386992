/*
 * attributes.c: reads columns of a user's file, such as a text's length or genre, and finds out which hold numbers and
 * which hold categories (attributes.h).
 *
 * A column counts as one of numbers until a value is no number. All columns are then read once more, this one as
 * categories. The file is in memory, so the disk is read once.
 */
#include "attributes.h"

#include "base/arrays.h"
#include "base/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER_LENGTH_MAX 400 /* the longest value, in bytes, that is taken for a number */

struct reading {
	const struct attributes_request *request;
	const struct user_file *file;
	struct attributes *attributes;
	struct fields fields; /* the columns, then the id */
	struct fields_reader reader;
	const struct ids_index *index; /* finds an example by its id; NULL: every record is an example */
	struct ids *ids;               /* gets the ids of the records where `index` is NULL; else NULL */
	bool again;                    /* a column has turned out to hold categories: the columns are read once more */
};

void
attributes_free(struct attributes *attributes)
{
	for (size_t a = 0; a < attributes->count; a++) {
		struct attribute *attribute = &attributes->list[a];

		names_free(&attribute->names);
		array_free(attribute->numbers);
		array_free(attribute->categories);
		free(attribute->ranks);
		free(attribute->name);
	}
	free(attributes->list);
	array_free(attributes->places);
	*attributes = (struct attributes){0};
}

static int
no_memory(const struct user_file *file, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the columns of %s", file->path);
}

/* Refuses a field whose value is an object, an array, or has a NUL in it. */
static int
check_field(const struct reading *reading, size_t field, struct portolan_error *error)
{
	const struct field *found = &reading->reader.found[field];

	if (found->kind == FIELD_OTHER)
		return fields_wrong(&reading->reader, error, ": field %s: neither a number nor text",
		                    reading->fields.names[field].text);
	if (found->at && memchr(found->at, '\0', found->length))
		return fields_wrong(&reading->reader, error, ": field %s: a NUL character",
		                    reading->fields.names[field].text);
	return 0;
}

/* Makes the column one of categories from now on, as this value is no number. */
static void
make_category(struct reading *reading, struct attribute *attribute, const struct field *value)
{
	size_t length = value->length < sizeof(attribute->text) ? value->length : sizeof(attribute->text) - 1;

	attribute->kind = ATTRIBUTE_CATEGORY;
	attribute->text_line = fields_line(&reading->reader);
	memcpy(attribute->text, value->at, length);
	attribute->text[length] = '\0';
	reading->again = true;
}

static int
take_value(struct reading *reading, size_t column, size_t position, struct portolan_error *error)
{
	struct attribute *attribute = &reading->attributes->list[column];
	const struct field *value = &reading->reader.found[column];
	struct field trimmed = records_trim(*value);
	size_t length = trimmed.length <= NUMBER_LENGTH_MAX ? trimmed.length : 0;
	char text[NUMBER_LENGTH_MAX + 1];
	int code = check_field(reading, column, error);

	if (code < 0 || !value->at || trimmed.length == 0)
		return code;
	memcpy(text, trimmed.at, length);
	text[length] = '\0';
	if (strcasecmp(text, "nan") == 0)
		return 0;
	if (attribute->kind == ATTRIBUTE_NUMBER && !number_parse(text, &attribute->numbers[position]))
		make_category(reading, attribute, value);
	if (attribute->kind == ATTRIBUTE_CATEGORY && attribute->categories) {
		uint32_t name = names_add(&attribute->names, value->at, value->length);

		if (name >= INT32_MAX)
			return no_memory(reading->file, error);
		attribute->categories[position] = (int32_t)name;
	}
	return 0;
}

/* Finds the record's position; −1: no example has the record's id. Returns 1 if the ids must be read as strings. */
static int
take_position(struct reading *reading, int64_t *position, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;
	size_t id = attributes->count;
	const struct field *field = &reading->reader.found[id];
	const char **place;
	int code = check_field(reading, id, error);

	*position = -1;
	if (code < 0)
		return code;
	if (reading->ids) {
		if (attributes->records >= attributes->rows)
			return fields_wrong(&reading->reader, error, ": the file was changed while it was read");
		if (!join_is_id(field))
			return fields_wrong(&reading->reader, error, ": field %s: no id",
			                    reading->fields.names[id].text);
		code = ids_append_text(reading->ids, field->at, field->length, error); /* 1: this id is no number */
		*position = (int64_t)attributes->records;
	} else {
		*position = join_find(reading->index, &reading->reader, id, &attributes->oddities);
	}
	attributes->unknown += *position < 0;
	if (code != 0 || *position < 0)
		return code;
	place = &attributes->places[*position];
	if (*place && reading->file->glue_id) {
		if (attributes->oddities.again++ == 0)
			attributes->oddities.first_again = fields_line(&reading->reader);
		*position = -1;
		return 0;
	}
	if (*place)
		return fields_wrong(&reading->reader, error, ": field %s: '%.*s' stands in line %llu already",
		                    reading->request->id_field, fields_shown(field), field->at,
		                    (unsigned long long)user_file_line(reading->file, *place));
	*place = reading->reader.part.record.at;
	return 0;
}

/* Returns 0 if the columns are read, 1 if they must be read again, with other kinds of columns or ids. */
static int
read_records(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;
	int code;

	fields_begin(&reading->reader, &reading->fields, user_file_whole(reading->file));
	while ((code = fields_next(&reading->reader, error)) > 0) {
		int64_t position;

		code = take_position(reading, &position, error);
		for (size_t a = 0; a < attributes->count && code == 0 && position >= 0; a++)
			code = take_value(reading, a, (size_t)position, error);
		if (code != 0)
			break;
		attributes->records++;
	}
	attributes->oddities.unlabelled = reading->reader.part.unlabelled;
	return code != 0 ? code : reading->again;
}

/* Makes the arrays ready for reading the file from its beginning. The array of each column has the kind that is known
 * by now. */
static int
begin_pass(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;

	attributes->records = attributes->unknown = 0;
	attributes->oddities = (struct join_oddities){0};
	reading->again = false;
	memset(attributes->places, 0, attributes->rows * sizeof(*attributes->places));
	for (size_t a = 0; a < attributes->count; a++) {
		struct attribute *attribute = &attributes->list[a];
		bool numbers = attribute->kind == ATTRIBUTE_NUMBER;

		if (numbers && !attribute->numbers)
			attribute->numbers = array_new(attributes->rows, sizeof(double), "values of a column", error);
		if (!numbers && !attribute->categories) {
			array_free(attribute->numbers);
			attribute->numbers = NULL;
			attribute->categories =
			        array_new(attributes->rows, sizeof(int32_t), "categories of a column", error);
		}
		if (numbers ? !attribute->numbers : !attribute->categories)
			return PORTOLAN_E_MEMORY;
		for (size_t i = 0; i < attributes->rows; i++) {
			if (numbers)
				attribute->numbers[i] = NAN;
			else
				attribute->categories[i] = -1;
		}
	}
	return 0;
}

/* Counts positions without a record or a value. JSON lines have no header, so a column without any value is an error:
 * its name is probably wrong. */
static int
count_missing(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;

	for (size_t i = 0; i < attributes->rows; i++)
		attributes->unmatched += !attributes->places[i];
	for (size_t a = 0; a < attributes->count; a++) {
		struct attribute *attribute = &attributes->list[a];

		for (size_t i = 0; i < attributes->rows; i++)
			attribute->missing +=
			        attribute->numbers ? isnan(attribute->numbers[i]) : attribute->categories[i] < 0;
		if (attribute->missing == attributes->rows && attributes->unmatched < attributes->rows)
			return error_set(error, PORTOLAN_E_INVALID, "%s: no line has a value in field '%s' (see %s)",
			                 reading->file->path, attribute->name, reading->request->options[a]);
	}
	return 0;
}

/* Finds the columns of the file. The id is the last of the fields. But a missing id column is reported before any
 * other. */
static int
find_fields(struct reading *reading, struct portolan_error *error)
{
	const struct attributes_request *request = reading->request;
	const char *names[FIELDS_MAX], *options[FIELDS_MAX];
	size_t column;

	if (reading->file->format != TABLE_JSONL &&
	    user_file_column(reading->file, "--id-field", request->id_field, &column, error) < 0)
		return PORTOLAN_E_INVALID;
	for (size_t a = 0; a < request->count; a++) {
		names[a] = request->names[a];
		options[a] = request->options[a];
	}
	names[request->count] = request->id_field;
	options[request->count] = "--id-field";
	return fields_init(&reading->fields, reading->file, names, options, request->count + 1, error);
}

static int
read_columns(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;
	const struct attributes_request *request = reading->request;
	int code = 1;

	for (; attributes->count < request->count; attributes->count++) {
		attributes->list[attributes->count].name = strdup(request->names[attributes->count]);
		if (!attributes->list[attributes->count].name)
			return no_memory(reading->file, error);
	}
	if (find_fields(reading, error) < 0)
		return PORTOLAN_E_INVALID;
	while (code == 1) {
		enum store_id_kind kind = reading->ids ? reading->ids->kind : STORE_ID_NONE;

		if (begin_pass(reading, error) < 0)
			return PORTOLAN_E_MEMORY;
		code = read_records(reading, error);
		if (code == 1 && reading->ids) { /* an id that is no number has ended the reading early */
			bool strings = kind == STORE_ID_STR || reading->ids->rows < attributes->rows;

			ids_free(reading->ids);
			reading->ids->kind = strings ? STORE_ID_STR : STORE_ID_INT;
		}
	}
	return code < 0 ? code : count_missing(reading, error);
}

static int
read_all(struct reading *reading, size_t rows, struct portolan_error *error)
{
	size_t count = reading->request->count;
	int code;

	reading->file = reading->request->file;
	reading->attributes->rows = rows;
	reading->attributes->list = calloc(count + 1, sizeof(struct attribute));
	reading->attributes->places = array_new(rows, sizeof(*reading->attributes->places), "places of records", error);
	if (!reading->attributes->list)
		code = no_memory(reading->file, error);
	else
		code = reading->attributes->places ? read_columns(reading, error) : PORTOLAN_E_MEMORY;
	fields_end(&reading->reader);
	if (code < 0)
		attributes_free(reading->attributes);
	return code;
}

int
attributes_read(struct attributes *attributes, const struct attributes_request *request, const struct ids *ids,
                const uint32_t *chosen, size_t n, struct portolan_error *error)
{
	struct reading reading = {.request = request, .attributes = attributes};
	struct ids_index index;
	int code = ids_index_init(&index, ids, chosen, n, error);

	*attributes = (struct attributes){0};
	if (code < 0)
		return code;
	reading.index = &index;
	code = read_all(&reading, n, error);
	ids_index_free(&index);
	return code;
}

static int
count_records(const struct user_file *file, size_t *count, struct portolan_error *error)
{
	struct user_part part = user_file_whole(file);
	int code;

	*count = 0;
	while ((code = user_part_next(&part, error)) > 0)
		++*count;
	if (code == 0 && *count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s has no examples", file->path);
	return code;
}

static unsigned long long
line_of(const struct reading *reading, uint32_t position)
{
	return user_file_line(reading->file, reading->attributes->places[position]);
}

/* Refuses a file in which an id stands twice. */
static int
check_ids(const struct reading *reading, struct portolan_error *error)
{
	const struct ids *ids = reading->ids;
	uint32_t *order = ids_in_order(ids, error);
	int code = order ? 0 : PORTOLAN_E_MEMORY;

	for (size_t i = 1; i < ids->rows && code >= 0; i++)
		if (ids_are_equal(ids, order[i - 1], order[i]))
			code = error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field %s: this id stands in line %llu already",
			                 reading->file->path, line_of(reading, order[i]), reading->request->id_field,
			                 line_of(reading, order[i - 1]));
	array_free(order);
	return code;
}

int
attributes_read_all(struct attributes *attributes, const struct attributes_request *request, struct ids *ids,
                    struct portolan_error *error)
{
	struct reading reading = {.request = request, .attributes = attributes, .ids = ids};
	size_t rows;
	int code = count_records(request->file, &rows, error);

	*attributes = (struct attributes){0};
	*ids = (struct ids){.kind = STORE_ID_INT};
	if (code < 0)
		return code;
	code = read_all(&reading, rows, error);
	if (code >= 0) {
		code = request->file->glue_id ? 0 : check_ids(&reading, error); /* glue.h: the first record counts */
		if (code < 0)
			attributes_free(attributes);
	}
	if (code < 0)
		ids_free(ids);
	return code;
}
