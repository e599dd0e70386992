/*
 * columns.c: see columns.h. Texts are read as categories, which they are to the file: so a text that stands there often
 * (a premise with several hypotheses) is in memory once.
 */
#include "columns.h"

#include "words.h"

#include <portolan/error.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
columns_free(struct columns *columns)
{
	for (size_t i = 0; i < columns->listed_count; i++)
		free(columns->listed[i]);
	for (size_t i = 0; i < 3; i++)
		free(columns->made[i]);
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
add_name(struct columns *columns, const char *name, size_t length, const char *id_field, struct portolan_error *error)
{
	if (strlen(id_field) == length && memcmp(name, id_field, length) == 0)
		return 0;
	if (columns->listed_count == COLUMNS_MAX)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s has more than %d columns: choose those to be summarised with --columns",
		                 columns->file.path, COLUMNS_MAX);
	columns->listed[columns->listed_count] = strndup(name, length);
	if (!columns->listed[columns->listed_count])
		return no_memory(columns, error);
	columns->listed_count++;
	return 0;
}

/* The members of the first JSON object that are numbers, texts, or true or false. */
static int
list_members(struct columns *columns, const struct record *record, const char *id_field, struct portolan_error *error)
{
	json_t *object = json_loadb(record->at, record->length, 0, NULL), *value;
	const char *name;
	int code = 0;

	json_object_foreach(object, name, value) if (code >= 0 && !json_is_object(value) && !json_is_array(value))
	        code = add_name(columns, name, strlen(name), id_field, error);
	json_decref(object);
	return code;
}

static int
list_header(struct columns *columns, const char *id_field, struct portolan_error *error)
{
	const struct user_file *file = &columns->file;
	size_t count = records_count_fields(file->format, &file->header);
	char *text = malloc(file->header.length + 1);
	int code = text ? 0 : no_memory(columns, error);

	for (size_t f = 0; f < count && code >= 0; f++) {
		long length = records_field(file->format, &file->header, f, text);

		if (length > 0)
			code = add_name(columns, text, (size_t)length, id_field, error);
	}
	free(text);
	return code;
}

static int
list_all(struct columns *columns, const char *id_field, struct portolan_error *error)
{
	struct user_record record = {0};
	int code;

	if (columns->file.format != RECORDS_JSONL)
		return list_header(columns, id_field, error);
	code = user_file_next(&columns->file, &record, error);
	if (code > 0)
		code = list_members(columns, &record.record, id_field, error);
	user_record_end(&record);
	return code;
}

/* Reads the columns asked for, or all there are, and then the two texts. */
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

		if (!by_name && attribute->kind == ATTRIBUTE_CATEGORY && attribute->name_count > COLUMNS_CATEGORIES_MAX)
			pass_over(columns, attribute->name);
		else
			columns->list[columns->count++] = (struct summary_column){.name = attribute->name,
			                                                          .numbers = attribute->numbers,
			                                                          .categories = attribute->categories,
			                                                          .names = attribute->names,
			                                                          .name_count = attribute->name_count};
	}
}

static double *
make_column(struct columns *columns, size_t rows)
{
	size_t number = 0;

	while (columns->made[number])
		number++;
	columns->made[number] = malloc((rows + 1) * sizeof(double));
	columns->list[columns->count] =
	        (struct summary_column){.name = columns->made_names[number], .numbers = columns->made[number]};
	columns->count += columns->made[number] != NULL;
	return columns->made[number];
}

/* The text at a position; NULL: missing. */
static const char *
text_at(const struct attribute *attribute, size_t position)
{
	return attribute->categories[position] < 0 ? NULL : attribute->names[attribute->categories[position]];
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
	values = make_column(columns, rows);
	if (!values || !compute_overlap(texts, rows, values))
		return no_memory(columns, error);
	for (int t = 0; t < 2 && request->words; t++) {
		snprintf(columns->made_names[1 + t], sizeof(columns->made_names[1 + t]), "words_in_%s", texts[t].name);
		values = make_column(columns, rows);
		if (!values || !compute_presence(&texts[t], request->words, rows, values))
			return no_memory(columns, error);
	}
	return 0;
}

int
columns_read(struct columns *columns, const struct columns_request *request, const struct dynamics *dynamics,
             struct portolan_error *error)
{
	size_t plain;
	int code;

	*columns = (struct columns){0};
	code = user_file_open(&columns->file, "--attributes", request->path, error);
	if (code >= 0)
		code = read_attributes(columns, request, dynamics, &plain, error);
	if (code >= 0) {
		take_attributes(columns, plain, request->name_count > 0);
		columns->records = columns->attributes.records;
		columns->unknown = columns->attributes.unknown;
		columns->unmatched = columns->attributes.unmatched;
		memcpy(columns->odd, columns->attributes.odd, sizeof(columns->odd));
		if (request->texts[0])
			code = take_texts(columns, request, plain, error);
	}
	if (code >= 0 && columns->unmatched == dynamics->count)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s has no record of an example of the run: is '%s' the field of its ids?%s%s%s",
		                 request->path, request->id_field,
		                 columns->odd[0] ? " The run's are integers, and in the file there is '" : "",
		                 columns->odd, columns->odd[0] ? "'" : "");
	if (code >= 0 && columns->count == 0)
		code = error_set(error, PORTOLAN_E_INVALID, "%s has nothing to summarise beside the ids%s%s",
		                 request->path, columns->passed_over[0] ? "; with too many categories: " : "",
		                 columns->passed_over);
	if (code < 0)
		columns_free(columns);
	return code;
}
