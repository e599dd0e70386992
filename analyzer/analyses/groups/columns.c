/*
 * columns.c: see columns.h. Texts are read as categories, so a text that the file repeats (a premise with several
 * hypotheses) is in memory once.
 */
#include "columns.h"

#include "base/arrays.h"
#include "words.h"

#include <json_line.h>
#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(COLUMNS_MAX + 3 <= FIELDS_MAX, "all columns, a pair of texts and the id are read at once");

void
columns_free(struct columns *columns)
{
	for (size_t i = 0; i < columns->listed_count; i++)
		free(columns->listed[i]);
	for (size_t i = 0; i < 3; i++)
		array_free(columns->made[i]);
	attributes_free(&columns->attributes);
	user_file_close(&columns->file);
	*columns = (struct columns){0};
}

static int
no_memory(const struct columns *columns, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the columns of %s", columns->file.path);
}

static int
add_name(struct columns *columns, const struct field *name, const char *id_field, struct portolan_error *error)
{
	if (strlen(id_field) == name->length && memcmp(name->at, id_field, name->length) == 0)
		return 0;
	if (columns->listed_count == COLUMNS_MAX)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has more than %d columns: choose those to be summarised with --columns",
		                 columns->file.path, COLUMNS_MAX);
	columns->listed[columns->listed_count] = strndup(name->at, name->length);
	if (!columns->listed[columns->listed_count])
		return no_memory(columns, error);
	columns->listed_count++;
	return 0;
}

static bool
is_listed(const struct columns *columns, const struct json_value *key)
{
	for (size_t i = 0; i < columns->listed_count; i++)
		if (strlen(columns->listed[i]) == key->size && memcmp(columns->listed[i], key->at, key->size) == 0)
			return true;
	return false;
}

/* The members of a JSON object that are numbers, texts, or true or false. A record that is not well-formed is refused
 * when its fields are read. */
static int
list_members(struct columns *columns, const struct record *record, char *text, const char *id_field,
             struct portolan_error *error)
{
	struct json_line line = {.begin = record->at, .at = record->at, .end = record->at + record->length};
	struct json_value key, value;
	int code;

	for (code = json_line_first(&line, &key); code > 0; code = json_line_next(&line, &key)) {
		if (!json_line_decode(&key, text) || json_line_value(&line, &value) < 0)
			break;
		if (value.kind == JSON_LINE_OBJECT || value.kind == JSON_LINE_ARRAY ||
		    value.kind == JSON_LINE_NOT_FINITE || is_listed(columns, &key))
			continue;
		code = add_name(columns, &(struct field){key.at, key.size, FIELD_TEXT}, id_field, error);
		if (code < 0)
			return code;
	}
	return 0;
}

/* The columns of the header, or those of the first JSON line. */
static int
list_all(struct columns *columns, const char *id_field, struct portolan_error *error)
{
	struct user_part part = user_file_whole(&columns->file);
	bool has_header = columns->file.format != RECORDS_JSONL;
	int code = has_header ? 0 : user_part_next(&part, error);
	const struct record *record = has_header ? &columns->file.header : &part.record;
	const char *at = record->at;
	struct field field;
	char *text;

	if (!has_header && code <= 0)
		return code;
	text = malloc(record->length + 1);
	if (!text)
		return no_memory(columns, error);
	if (!has_header)
		code = list_members(columns, record, text, id_field, error);
	while (has_header && code >= 0 && at &&
	       records_take_field(columns->file.format, &at, record->at + record->length, text, &field))
		if ((field = records_trim(field)).length > 0)
			code = add_name(columns, &field, id_field, error);
	free(text);
	return code < 0 ? code : 0;
}

/* Reads the requested columns, or all, and then the two texts. */
static int
read_attributes(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics,
                size_t *plain, struct portolan_error *error)
{
	const char *names[COLUMNS_MAX + 2], *options[COLUMNS_MAX + 2];
	struct attributes_request wanted = {
	        .file = &columns->file, .id_field = request->id_field, .names = names, .options = options};
	bool all = request->name_count == 0 && !request->texts[0];
	int code = all ? list_all(columns, request->id_field, error) : 0;

	if (code < 0)
		return code;
	*plain = all ? columns->listed_count : request->name_count;
	for (; wanted.count < *plain; wanted.count++) {
		names[wanted.count] = all ? columns->listed[wanted.count] : request->names[wanted.count];
		options[wanted.count] = all ? "its first line" : "--columns";
	}
	for (int t = 0; t < 2 && request->texts[0]; t++) {
		names[wanted.count] = request->texts[t];
		options[wanted.count++] = "--text-pair";
	}
	return attributes_read(&columns->attributes, &wanted, &dynamics->ids, dynamics->order, dynamics->count, error);
}

static void
pass_over(struct columns *columns, const char *name)
{
	size_t used = strlen(columns->passed_over);

	snprintf(columns->passed_over + used, sizeof(columns->passed_over) - used, "%s%s", used ? ", " : "", name);
}

static void
take_attributes(struct columns *columns, size_t plain, bool by_name)
{
	for (size_t a = 0; a < plain; a++) {
		const struct attribute *attribute = &columns->attributes.list[a];

		if (!by_name && attribute->kind == ATTRIBUTE_CATEGORY &&
		    attribute->names.count > COLUMNS_CATEGORIES_MAX)
			pass_over(columns, attribute->name);
		else
			columns->list[columns->count++] = (struct summary_column){.name = attribute->name,
			                                                          .numbers = attribute->numbers,
			                                                          .categories = attribute->categories,
			                                                          .names = &attribute->names};
	}
}

static double *
make_column(struct columns *columns, size_t rows, struct portolan_error *error)
{
	size_t number = 0;

	while (columns->made[number])
		number++;
	columns->made[number] = array_new(rows, sizeof(double), "values of a column", error);
	columns->list[columns->count] =
	        (struct summary_column){.name = columns->made_names[number], .numbers = columns->made[number]};
	columns->count += columns->made[number] != NULL;
	return columns->made[number];
}

/* The text at a position; NULL: missing. */
static const char *
text_at(const struct attribute *attribute, size_t position)
{
	int32_t name = attribute->categories[position];
	size_t length;

	return name < 0 ? NULL : names_text(&attribute->names, (uint32_t)name, &length);
}

static bool
compute_overlap(const struct attribute texts[2], size_t rows, double *values)
{
	struct words pair[2] = {{0}};
	bool enough = true;

	for (size_t i = 0; i < rows && enough; i++) {
		const char *a = text_at(&texts[0], i), *b = text_at(&texts[1], i);

		values[i] = NAN;
		if (!a || !b)
			continue;
		enough = words_take(&pair[0], a) && words_take(&pair[1], b);
		if (enough)
			values[i] = words_overlap(&pair[0], &pair[1]);
	}
	words_free(&pair[0]);
	words_free(&pair[1]);
	return enough;
}

static bool
compute_presence(const struct attribute *text, const char *list, size_t rows, double *values)
{
	struct words wanted = {0}, words = {0};
	bool enough = words_take(&wanted, list);

	for (size_t i = 0; i < rows && enough; i++) {
		const char *at = text_at(text, i);

		values[i] = NAN;
		if (!at)
			continue;
		enough = words_take(&words, at);
		values[i] = enough && words_share(&words, &wanted);
	}
	words_free(&wanted);
	words_free(&words);
	return enough;
}

static int
take_texts(struct columns *columns, const struct columns_request *request, size_t plain, struct portolan_error *error)
{
	const struct attribute *texts = &columns->attributes.list[plain];
	size_t rows = columns->attributes.rows;
	double *values;

	for (int t = 0; t < 2; t++)
		if (texts[t].kind != ATTRIBUTE_CATEGORY)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "%s: field %s holds numbers, no texts: see --text-pair", columns->file.path,
			                 texts[t].name);
	snprintf(columns->made_names[0], sizeof(columns->made_names[0]), "word_overlap");
	values = make_column(columns, rows, error);
	if (!values)
		return PORTOLAN_E_MEMORY;
	if (!compute_overlap(texts, rows, values))
		return no_memory(columns, error);
	for (int t = 0; t < 2 && request->words; t++) {
		snprintf(columns->made_names[1 + t], sizeof(columns->made_names[1 + t]), "words_in_%s", texts[t].name);
		values = make_column(columns, rows, error);
		if (!values)
			return PORTOLAN_E_MEMORY;
		if (!compute_presence(&texts[t], request->words, rows, values))
			return no_memory(columns, error);
	}
	return 0;
}

int
columns_read(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics,
             struct portolan_error *error)
{
	const char *odd = columns->attributes.oddities.odd;
	size_t plain;
	int code;

	*columns = (struct columns){0};
	code = user_file_open(&columns->file, "--data", request->path, error);
	if (code >= 0 && request->glue)
		user_file_read_as_glue(&columns->file, request->id_field);
	if (code >= 0)
		code = read_attributes(columns, request, dynamics, &plain, error);
	if (code >= 0) {
		take_attributes(columns, plain, request->name_count > 0);
		if (request->texts[0])
			code = take_texts(columns, request, plain, error);
	}
	if (code >= 0 && columns->attributes.unmatched == dynamics->count)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s has no record of an example of the run: is '%s' the field of its ids?%s%s%s",
		                 request->path, request->id_field,
		                 odd[0] ? " The run's are integers, and in the file there is '" : "", odd,
		                 odd[0] ? "'" : "");
	if (code >= 0 && columns->count == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has nothing to summarise beside the ids%s%s",
		                 request->path, columns->passed_over[0] ? "; with too many categories: " : "",
		                 columns->passed_over);
	if (code < 0)
		columns_free(columns);
	return code;
}
