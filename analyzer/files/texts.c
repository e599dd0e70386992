/*
 * texts.c: reads the texts of examples from the user's own file. When it is opened, one pass over it finds where each record
 * begins and which example the record belongs to; the contents are read when they are shown. If another program changes
 * the file meanwhile, texts may be wrong, but reading never ends this program.
 */
#include "texts.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <portolan/error.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct texts {
	struct user_file file;
	const char *id_field;
	const char *const *fields;
	size_t field_count;
	struct fields read_fields; /* the fields that are shown as text */
	struct attributes records; /* has no columns, only where each record begins */
	struct ids ids;
	uint32_t *order; /* 0, 1, 2, …, as the index needs an order */
	struct ids_index index;
	struct names column_names;  /* of the columns that hold neither the ids nor a text */
	pthread_mutex_t lock;       /* guards the two below */
	struct attributes *columns; /* each was read by its own pass over the file */
	size_t column_count;
};

static int
texts_open_file(struct texts *texts, const char *path, bool glue, struct portolan_error *error)
{
	const struct attributes_request request = {.file = &texts->file, .id_field = texts->id_field};
	const char *options[FIELDS_MAX];
	int code = user_file_open(&texts->file, "--data", path, error);

	for (size_t i = 0; i < FIELDS_MAX; i++)
		options[i] = "--text";
	if (code >= 0 && glue)
		user_file_read_as_glue(&texts->file, texts->id_field);
	if (code >= 0)
		code = fields_init(&texts->read_fields, &texts->file, texts->fields, options, texts->field_count,
		                   error);
	for (size_t i = 0; i < texts->field_count && code >= 0; i++)
		if (!fields_has(&texts->file, texts->fields[i]))
			code = error_set(error, PORTOLAN_E_INVALID, "%s: its first line has no field '%s' (see --text)",
			                 path, texts->fields[i]);
	if (code >= 0)
		code = attributes_read_all(&texts->records, &request, &texts->ids, error);
	return code;
}

static bool
texts_is_column(const struct texts *texts, const char *name)
{
	for (size_t i = 0; i < texts->field_count; i++)
		if (strcmp(texts->fields[i], name) == 0)
			return false;
	return strcmp(name, texts->id_field) != 0;
}

/* Lists the columns that hold neither the ids nor a text that is shown. */
static int
texts_list_columns(struct texts *texts, struct portolan_error *error)
{
	CLEANUP(names_free) struct names all = {0};
	size_t length;
	int code = fields_list(&texts->file, false, &all, error);

	for (uint32_t n = 0; n < all.count && code >= 0; n++) {
		const char *name = names_text(&all, n, &length);

		if (texts_is_column(texts, name) && names_add(&texts->column_names, name, length) == NAMES_NONE)
			code = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	return code;
}

static int
texts_make_index(struct texts *texts, struct portolan_error *error)
{
	texts->order = malloc((texts->records.rows + 1) * sizeof(*texts->order));
	if (!texts->order)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t i = 0; i < texts->records.rows; i++)
		texts->order[i] = (uint32_t)i;
	return ids_index_init(&texts->index, &texts->ids, texts->order, texts->records.rows, error);
}

int
texts_open(struct texts **texts, const char *path, const char *id_field, bool glue, const char *const *fields,
           size_t count, struct portolan_error *error)
{
	struct texts *opened = calloc(1, sizeof(*opened));
	int code;

	if (!opened)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	pthread_mutex_init(&opened->lock, NULL);
	opened->id_field = id_field;
	opened->fields = fields;
	opened->field_count = count;
	code = texts_open_file(opened, path, glue, error);
	if (code >= 0)
		code = texts_list_columns(opened, error);
	if (code >= 0)
		code = texts_make_index(opened, error);
	if (code >= 0)
		code = texts_check(opened, error);
	if (code < 0) {
		texts_free(opened);
		return code;
	}
	content_outlive_cuts(&opened->file.content);
	*texts = opened;
	return 0;
}

void
texts_free(struct texts *texts)
{
	if (!texts)
		return;
	for (size_t c = 0; c < texts->column_count; c++)
		attributes_free(&texts->columns[c]);
	free(texts->columns);
	names_free(&texts->column_names);
	ids_index_free(&texts->index);
	free(texts->order);
	attributes_free(&texts->records);
	ids_free(&texts->ids);
	user_file_close(&texts->file);
	pthread_mutex_destroy(&texts->lock);
	free(texts);
}

static int
texts_was_changed(const struct texts *texts, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_SYSTEM,
	                 "%s was changed after it was opened, so texts read from it may be wrong: start this again",
	                 texts->file.path);
}

int
texts_check(const struct texts *texts, struct portolan_error *error)
{
	return !texts || content_is_unchanged(&texts->file.content) ? 0 : texts_was_changed(texts, error);
}

size_t
texts_records(const struct texts *texts)
{
	return texts->records.rows;
}

void
texts_report_fields(struct report *report, const struct texts *texts)
{
	size_t length;

	report_begin_list(report, "fields");
	for (size_t i = 0; texts && i < texts->field_count; i++)
		report_text(report, NULL, texts->fields[i]);
	report_end(report);
	report_begin_list(report, "data_columns");
	for (uint32_t name = 0; texts && name < texts->column_names.count; name++)
		report_text(report, NULL, names_text(&texts->column_names, name, &length));
	report_end(report);
	report_text(report, "id_field", texts ? texts->id_field : NULL);
}

size_t
texts_find(const struct texts *texts, const struct ids *ids, uint32_t index)
{
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text = id_print(ids, index, digits, &length);
	int64_t at = ids_index_find(&texts->index, text, length);

	return at < 0 ? TEXTS_NONE : (size_t)at;
}

size_t
texts_find_id(const struct texts *texts, const char *id)
{
	int64_t at = ids_index_find(&texts->index, id, strlen(id));

	return at < 0 ? TEXTS_NONE : (size_t)at;
}

bool
texts_has(const struct texts *texts, const char *name)
{
	return fields_has(&texts->file, name);
}

/* Tries the next record first: it is the right one if the file is in the order of the ids. */
uint32_t *
texts_match(const struct texts *texts, const struct ids *ids, const uint32_t *order, size_t n)
{
	uint32_t *records = malloc((ids->rows + 1) * sizeof(*records));
	bool comparable = texts->ids.kind == ids->kind;
	size_t next = 0;

	for (size_t i = 0; records && i < n; i++) {
		size_t record = next;

		if (next >= texts->records.rows || !comparable ||
		    ids_compare(ids, order[i], &texts->ids, (uint32_t)next) != 0)
			record = texts_find(texts, ids, order[i]);
		records[order[i]] = record == TEXTS_NONE ? TEXTS_NO_RECORD : (uint32_t)record;
		next = record == TEXTS_NONE ? next : record + 1;
	}
	return records;
}

/* Reads these fields of a record into reader->found. False: the record is not well-formed. */
static bool
texts_read_fields(const struct texts *texts, const struct fields *fields, struct fields_reader *reader, size_t record)
{
	struct user_part part = user_file_whole(&texts->file);
	struct portolan_error error;

	part.at = (size_t)(texts->records.places[record] - texts->file.text);
	fields_begin(reader, fields, part);
	return fields_next(reader, &error) > 0;
}

/* Reads the fields that are shown. */
static bool
texts_read_record(const struct texts *texts, struct fields_reader *reader, size_t record)
{
	return texts_read_fields(texts, &texts->read_fields, reader, record);
}

char *
texts_value(const struct texts *texts, size_t record, const char *name)
{
	const char *option = "the field asked for";
	struct fields fields;
	struct fields_reader reader = {0};
	struct portolan_error error;
	char *value = NULL;

	if (fields_init(&fields, &texts->file, &name, &option, 1, &error) >= 0 &&
	    texts_read_fields(texts, &fields, &reader, record) && reader.found[0].kind == FIELD_TEXT &&
	    !memchr(reader.found[0].at, '\0', reader.found[0].length))
		value = strndup(reader.found[0].at, reader.found[0].length);
	fields_end(&reader);
	return value;
}

void
texts_read(const struct texts *texts, size_t record,
           bool (*visit)(void *context, const char *name, const struct field *field), void *context)
{
	struct fields_reader reader = {0};

	if (texts_read_record(texts, &reader, record))
		for (size_t i = 0; i < texts->field_count; i++)
			if (!visit(context, texts->fields[i], &reader.found[i]))
				break;
	fields_end(&reader);
}

static bool
texts_report_field(void *report, const char *name, const struct field *field)
{
	if (field->at)
		report_bytes(report, name, field->at, field->length);
	else
		report_null(report, name);
	return true;
}

void
texts_report(struct report *report, const char *key, const struct texts *texts, size_t record)
{
	report_begin(report, key);
	texts_read(texts, record, texts_report_field, report);
	report_end(report);
}

static char
texts_fold_case(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter + 'a' - 'A') : letter;
}

/* Does the text hold the part, which is not empty? */
static bool
texts_field_contains(const struct field *text, const char *part, size_t length)
{
	char first = texts_fold_case(*part);

	for (size_t i = 0; i + length <= text->length; i++) {
		size_t same = 1;

		if (texts_fold_case(text->at[i]) != first)
			continue;
		while (same < length && texts_fold_case(text->at[i + same]) == texts_fold_case(part[same]))
			same++;
		if (same == length)
			return true;
	}
	return false;
}

static bool
texts_record_contains(const struct texts *texts, struct fields_reader *reader, size_t record, const char *part)
{
	if (!texts_read_record(texts, reader, record))
		return false;
	for (size_t i = 0; i < texts->field_count; i++)
		if (reader->found[i].at && texts_field_contains(&reader->found[i], part, strlen(part)))
			return true;
	return false;
}

bool
texts_contain(const struct texts *texts, size_t record, const char *part)
{
	struct fields_reader reader = {0};
	bool found = texts_record_contains(texts, &reader, record, part);

	fields_end(&reader);
	return found;
}

void
texts_search(const struct texts *texts, size_t from, size_t to, const char *part, unsigned char *bits)
{
	struct fields_reader reader = {0};

	for (size_t record = from; record < to; record++)
		if (texts_record_contains(texts, &reader, record, part))
			bits[record / 8] |= (unsigned char)(1u << record % 8);
	fields_end(&reader);
}

const char *
texts_line(const struct texts *texts, size_t record, size_t *length)
{
	const char *at = texts->records.places[record];
	size_t left = texts->file.size - (size_t)(at - texts->file.text);

	*length = records_next(texts->file.format, at, left).length;
	return at;
}

const char *
texts_header(const struct texts *texts, size_t *length)
{
	*length = texts->file.mark + texts->file.header.length;
	return texts->file.format == TABLE_JSONL ? NULL : texts->file.text;
}

const char *
texts_ending(const struct texts *texts)
{
	return table_format_names[texts->file.format];
}

/* Reads a column, with a value for each record that the file had when it was opened. */
static int
texts_read_column(const struct texts *texts, const char *name, struct attributes *column, struct portolan_error *error)
{
	const char *option = "the column asked for";
	const struct attributes_request request = {
	        .file = &texts->file, .id_field = texts->id_field, .names = &name, .options = &option, .count = 1};
	struct ids ids;
	int code, unchanged;

	if (!fields_has(&texts->file, name))
		code = error_set(error, PORTOLAN_E_INVALID, "%s has no column '%s'", texts->file.path, name);
	else
		code = attributes_read_all(column, &request, &ids, error);
	if (code >= 0)
		ids_free(&ids);
	unchanged = texts_check(texts, error); /* if the file was changed, that is the error to report */
	if (code >= 0 && unchanged >= 0 && column->rows != texts->records.rows)
		unchanged = texts_was_changed(texts, error);
	if (code >= 0 && column->list[0].kind == ATTRIBUTE_CATEGORY &&
	    !(column->list[0].ranks = names_rank(&column->list[0].names)))
		unchanged = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	if (code >= 0 && unchanged < 0)
		attributes_free(column);
	return unchanged < 0 ? unchanged : code;
}

static int
texts_add_column(struct texts *texts, const char *name, struct portolan_error *error)
{
	struct attributes *columns = realloc(texts->columns, (texts->column_count + 1) * sizeof(*columns));
	int code;

	if (!columns)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	texts->columns = columns;
	code = texts_read_column(texts, name, &columns[texts->column_count], error);
	texts->column_count += code >= 0;
	return code;
}

int
texts_column(struct texts *texts, const char *name, const struct attribute **column, struct portolan_error *error)
{
	size_t c = 0;
	int code = 0;

	pthread_mutex_lock(&texts->lock);
	while (c < texts->column_count && strcmp(texts->columns[c].list[0].name, name) != 0)
		c++;
	if (c == texts->column_count)
		code = texts_add_column(texts, name, error);
	if (code >= 0)
		*column = &texts->columns[c].list[0];
	pthread_mutex_unlock(&texts->lock);
	return code;
}
