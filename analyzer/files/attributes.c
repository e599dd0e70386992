/*
 * attributes.c: columns of a user's file, typed.
 *
 * Whether a column holds numbers or categories is known when all of it has been read: it is taken for numbers until a
 * value is none, and then read once more. The file is in memory, so that costs no second reading of it.
 */
#include "attributes.h"
#include "categories.h"

#include "program/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reading {
	const struct attributes_request *request;
	const struct user_file *file;
	struct attributes *attributes;
	size_t id_column, *columns;    /* of CSV and TSV */
	struct categories *names;      /* by column */
	const struct ids_index *index; /* NULL: every record is an example */
	struct ids *ids;               /* of every record; else NULL */
	bool again;                    /* a column turned out to hold categories */
};

void
attributes_free(struct attributes *attributes)
{
	for (size_t a = 0; a < attributes->count; a++) {
		struct attribute *attribute = &attributes->list[a];

		for (size_t i = 0; i < attribute->name_count; i++)
			free(attribute->names[i]);
		free(attribute->names);
		free(attribute->numbers);
		free(attribute->categories);
		free(attribute->name);
	}
	free(attributes->list);
	free(attributes->lines);
	*attributes = (struct attributes){0};
}

static int
no_memory(const struct user_file *file, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the columns of %s", file->path);
}

static int
wrong_value(const struct reading *reading, const struct user_record *record, const char *field, const char *what,
            struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu: field %s: %s", reading->file->path,
	                 (unsigned long long)record->line, field, what);
}

/* A field as text in record->text, NUL-terminated, JSON's true and false as 1 and 0. *length −1: missing. */
static int
take_field(const struct reading *reading, struct user_record *record, const char *name, size_t column, long *length,
           struct portolan_error *error)
{
	enum records_json_kind kind = RECORDS_JSON_NONE;

	*length = reading->file->format == RECORDS_JSONL
	                  ? records_json_value(&record->record, name, &kind, record->text)
	                  : records_field(reading->file->format, &record->record, column, record->text);
	if (*length == -2)
		return user_file_malformed(reading->file, record, error);
	if (kind == RECORDS_JSON_OTHER)
		return wrong_value(reading, record, name, "neither a number nor text", error);
	if (kind == RECORDS_JSON_TRUE || kind == RECORDS_JSON_FALSE) {
		record->text[0] = kind == RECORDS_JSON_TRUE ? '1' : '0';
		*length = 1;
	}
	if (*length >= 0)
		record->text[*length] = '\0';
	if (*length >= 0 && strlen(record->text) != (size_t)*length)
		return wrong_value(reading, record, name, "a NUL character", error);
	return 0;
}

/* The value is no number: from now on the column is one of categories. */
static void
make_category(struct reading *reading, struct attribute *attribute, const struct user_record *record)
{
	attribute->kind = ATTRIBUTE_CATEGORY;
	attribute->text_line = record->line;
	snprintf(attribute->text, sizeof(attribute->text), "%s", record->text);
	reading->again = true;
}

static int
take_value(struct reading *reading, size_t column, struct user_record *record, size_t position,
           struct portolan_error *error)
{
	struct attribute *attribute = &reading->attributes->list[column];
	long length;
	int code = take_field(reading, record, attribute->name, reading->columns[column], &length, error);

	if (code < 0 || length <= 0 || strcasecmp(record->text, "nan") == 0)
		return code;
	if (attribute->kind == ATTRIBUTE_NUMBER && !number_parse(record->text, &attribute->numbers[position]))
		make_category(reading, attribute, record);
	if (attribute->kind == ATTRIBUTE_CATEGORY && attribute->categories) {
		attribute->categories[position] = categories_find(&reading->names[column], attribute, record->text);
		if (attribute->categories[position] < 0)
			return no_memory(reading->file, error);
	}
	return 0;
}

/* Adds the record's id to those of the file. 1: it is the first that is no whole number. */
static int
append_id(struct reading *reading, const struct user_record *record, size_t length, struct portolan_error *error)
{
	uint32_t offsets[2] = {0, (uint32_t)length};
	uint64_t number = 0;
	struct store_ids one = {.rows = 1, .integers = &number, .text = record->text, .offsets = offsets};

	if (reading->ids->kind == STORE_ID_INT && !number_parse_whole(record->text, length, &number))
		return 1;
	return ids_append(reading->ids, reading->ids->kind, &one, error);
}

static void
note_odd_id(struct reading *reading, const char *text, size_t length)
{
	char *odd = reading->attributes->odd;
	uint64_t number;

	if (reading->index->ids->kind == STORE_ID_INT && !odd[0] && !number_parse_whole(text, length, &number))
		snprintf(odd, sizeof(reading->attributes->odd), "%.60s", text);
}

/* The record's position, or −1: it has no example. 1: the ids must be read as strings. */
static int
take_position(struct reading *reading, struct user_record *record, int64_t *position, struct portolan_error *error)
{
	const char *id_field = reading->request->id_field;
	long length;
	int code = take_field(reading, record, id_field, reading->id_column, &length, error);

	*position = -1;
	if (code < 0)
		return code;
	if (reading->ids) {
		if (length <= 0)
			return wrong_value(reading, record, id_field, "no id", error);
		code = append_id(reading, record, (size_t)length, error);
		*position = (int64_t)reading->attributes->records;
	} else if (length >= 0) {
		*position = ids_index_find(reading->index, record->text, (size_t)length);
		if (*position < 0)
			note_odd_id(reading, record->text, (size_t)length);
	}
	if (code != 0 || *position < 0)
		return code;
	if (reading->attributes->lines[*position] > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: line %llu: field %s: '%.64s' stands in line %llu already", reading->file->path,
		                 (unsigned long long)record->line, id_field, record->text,
		                 (unsigned long long)reading->attributes->lines[*position]);
	reading->attributes->lines[*position] = record->line;
	return 0;
}

/* 0: read; 1: to be read again, with other kinds of columns or ids. */
static int
read_records(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;
	struct user_record record = {0};
	int code;

	while ((code = user_file_next(reading->file, &record, error)) > 0) {
		int64_t position;

		code = take_position(reading, &record, &position, error);
		for (size_t a = 0; a < attributes->count && code == 0 && position >= 0; a++)
			code = take_value(reading, a, &record, (size_t)position, error);
		if (code != 0)
			break;
		attributes->records++;
		attributes->unknown += position < 0;
	}
	user_record_end(&record);
	return code != 0 ? code : reading->again;
}

/* Nothing read yet: arrays of the kinds that are known. */
static int
begin_pass(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;

	attributes->records = attributes->unknown = 0;
	reading->again = false;
	memset(reading->attributes->lines, 0, (attributes->rows + 1) * sizeof(uint64_t));
	for (size_t a = 0; a < attributes->count; a++) {
		struct attribute *attribute = &attributes->list[a];
		bool numbers = attribute->kind == ATTRIBUTE_NUMBER;

		if (numbers && !attribute->numbers)
			attribute->numbers = malloc((attributes->rows + 1) * sizeof(double));
		if (!numbers && !attribute->categories) {
			free(attribute->numbers);
			attribute->numbers = NULL;
			attribute->categories = malloc((attributes->rows + 1) * sizeof(int32_t));
		}
		if (numbers ? !attribute->numbers : !attribute->categories)
			return no_memory(reading->file, error);
		for (size_t i = 0; i < attributes->rows; i++) {
			if (numbers)
				attribute->numbers[i] = NAN;
			else
				attribute->categories[i] = -1;
		}
	}
	return 0;
}

/* JSON lines have no header: a column that no example has a value of is missing from the file, or a typing error. */
static int
count_missing(struct reading *reading, struct portolan_error *error)
{
	struct attributes *attributes = reading->attributes;

	for (size_t i = 0; i < attributes->rows; i++)
		attributes->unmatched += reading->attributes->lines[i] == 0;
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

static int
find_columns(struct reading *reading, struct portolan_error *error)
{
	const struct attributes_request *request = reading->request;
	int code = 0;

	if (reading->file->format == RECORDS_JSONL)
		return 0;
	code = user_file_column(reading->file, "--id-field", request->id_field, &reading->id_column, error);
	for (size_t a = 0; a < request->count && code >= 0; a++)
		code = user_file_column(reading->file, request->options[a], request->names[a], &reading->columns[a],
		                        error);
	return code;
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
	if (find_columns(reading, error) < 0)
		return PORTOLAN_E_INVALID;
	while (code == 1) {
		enum store_id_kind kind = reading->ids ? reading->ids->kind : STORE_ID_NONE;

		if (begin_pass(reading, error) < 0)
			return PORTOLAN_E_MEMORY;
		code = read_records(reading, error);
		if (code == 1 && reading->ids) { /* only what was met before all was read is a string */
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
	reading->columns = calloc(count + 1, sizeof(*reading->columns));
	reading->names = calloc(count + 1, sizeof(*reading->names));
	reading->attributes->lines = malloc((rows + 1) * sizeof(uint64_t));
	if (reading->attributes->list && reading->columns && reading->names && reading->attributes->lines)
		code = read_columns(reading, error);
	else
		code = no_memory(reading->file, error);
	for (size_t a = 0; reading->names && a < count; a++)
		categories_free(&reading->names[a]);
	free(reading->columns);
	free(reading->names);
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
	struct user_record record = {0};
	int code;

	*count = 0;
	while ((code = user_file_next(file, &record, error)) > 0)
		++*count;
	user_record_end(&record);
	if (code == 0 && *count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s has no examples", file->path);
	return code;
}

/* No id stands in the file twice. */
static int
check_ids(const struct reading *reading, struct portolan_error *error)
{
	const struct ids *ids = reading->ids;
	uint32_t *order = malloc((ids->rows + 1) * sizeof(*order));
	int code = order ? 0 : no_memory(reading->file, error);

	for (size_t i = 0; i < ids->rows && code >= 0; i++)
		order[i] = (uint32_t)i;
	if (code >= 0)
		code = ids_sort(ids, order, ids->rows, error);
	for (size_t i = 1; i < ids->rows && code >= 0; i++)
		if (ids_are_equal(ids, order[i - 1], order[i]))
			code = error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field %s: this id stands in line %llu already",
			                 reading->file->path, (unsigned long long)reading->attributes->lines[order[i]],
			                 reading->request->id_field,
			                 (unsigned long long)reading->attributes->lines[order[i - 1]]);
	free(order);
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
		code = check_ids(&reading, error);
		if (code < 0)
			attributes_free(attributes);
	}
	if (code < 0)
		ids_free(ids);
	return code;
}
