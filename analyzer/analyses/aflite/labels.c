/*
 * labels.c: every label is a text, whatever it was written as, so that one way of telling them apart is enough; classes
 * get their numbers in the order of their names, so these do not depend on the order of the rows.
 */
#include "labels.h"

#include "files/join.h"
#include "files/list.h"

#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int
out_of_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the labels");
}

void
labels_free(struct labels *labels)
{
	names_free(&labels->found);
	free(labels->values);
	free(labels->names);
	free(labels->examples);
	*labels = (struct labels){0};
}

int
labels_add(struct labels *labels, const char *text, size_t length, struct portolan_error *error)
{
	uint32_t number = names_add(&labels->found, text, length);

	if (labels->count == labels->room) {
		size_t room = labels->room ? 2 * labels->room : 4096;
		uint32_t *grown = realloc(labels->values, room * sizeof(*grown));

		labels->values = grown ? grown : labels->values;
		labels->room = grown ? room : labels->room;
	}
	if (number == NAMES_NONE || labels->count == labels->room)
		return out_of_memory(error);
	labels->values[labels->count++] = number;
	return 0;
}

static bool
parse_integer(const char *text, intmax_t *value)
{
	char *end;

	errno = 0;
	*value = strtoimax(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && (*text == '-' || (*text >= '0' && *text <= '9'));
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
compare_numbers(const void *a, const void *b)
{
	intmax_t x = 0, y = 0;

	parse_integer(*(const char *const *)a, &x);
	parse_integer(*(const char *const *)b, &y);
	return x < y ? -1 : x > y ? 1 : compare_names(a, b);
}

static bool
are_numbers(const char *const *names, size_t count)
{
	intmax_t value;

	for (size_t i = 0; i < count; i++)
		if (!parse_integer(names[i], &value))
			return false;
	return true;
}

int64_t
labels_gap(const struct labels *labels)
{
	intmax_t first, next;

	if (labels->class_count == 0 || !are_numbers(labels->names, labels->class_count))
		return -1;
	parse_integer(labels->names[0], &first);
	if (first != 0 && first != 1)
		return first > 0 ? 0 : -1;
	for (size_t c = 1; c < labels->class_count; c++) {
		parse_integer(labels->names[c], &next);
		if (next != first + 1)
			return first + 1;
		first = next;
	}
	return -1;
}

int
labels_finish(struct labels *labels, struct portolan_error *error)
{
	size_t classes = labels->found.count, length;
	uint32_t *order = malloc((classes + 1) * sizeof(*order));

	labels->names = malloc((classes + 1) * sizeof(*labels->names));
	labels->examples = calloc(classes + 1, sizeof(*labels->examples));
	if (!order || !labels->names || !labels->examples) {
		free(order);
		return out_of_memory(error);
	}
	for (size_t c = 0; c < classes; c++)
		labels->names[c] = names_text(&labels->found, (uint32_t)c, &length);
	if (classes > 0)
		qsort(labels->names, classes, sizeof(*labels->names),
		      are_numbers(labels->names, classes) ? compare_numbers : compare_names);
	for (size_t c = 0; c < classes; c++) {
		const char *name = labels->names[c];
		uint32_t number = names_find(&labels->found, name, strlen(name));

		order[number] = (uint32_t)c;
		labels->digest = XXH3_64bits_withSeed(name, strlen(name) + 1, labels->digest);
	}
	for (size_t i = 0; i < labels->count; i++) {
		labels->values[i] = order[labels->values[i]];
		labels->examples[labels->values[i]]++;
	}
	labels->class_count = classes;
	labels->digest = XXH3_64bits_withSeed(labels->values, labels->count * sizeof(uint32_t), labels->digest);
	free(order);
	return 0;
}

int
labels_keep(struct labels *labels, const uint32_t *rows, size_t count, struct portolan_error *error)
{
	struct labels kept = {0};
	int code = 0;

	for (size_t i = 0; code >= 0 && i < count; i++) {
		const char *name = labels->names[labels->values[rows[i]]];

		code = labels_add(&kept, name, strlen(name), error);
	}
	if (code >= 0)
		code = labels_finish(&kept, error);
	if (code < 0) {
		labels_free(&kept);
		return code;
	}
	labels_free(labels);
	*labels = kept;
	return 0;
}

struct list {
	struct labels *labels;
	const char *path;
	const char *unit;
	const char *field_option;
};

/* Records in place of labels: JSON objects, or, in a file so named, several fields. */
static bool
is_record(const char *path, const char *line, size_t length)
{
	const char *dot = strrchr(path, '.');
	size_t blanks = 0;

	while (blanks < length && line[blanks] == ' ')
		blanks++;
	if (blanks < length && line[blanks] == '{' && memchr(line, ':', length))
		return true;
	return dot && ((strcasecmp(dot, ".csv") == 0 && memchr(line, ',', length)) ||
	               (strcasecmp(dot, ".tsv") == 0 && memchr(line, '\t', length)));
}

static int
take_label(void *context, uint64_t place, const char *label, size_t length, struct portolan_error *error)
{
	const struct list *list = context;

	if (length == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s: the label in %s %llu is empty", list->path, list->unit,
		                 (unsigned long long)place);
	if (memchr(label, '\0', length))
		return error_set(error, PORTOLAN_E_INVALID, "%s: the label in %s %llu has a NUL character", list->path,
		                 list->unit, (unsigned long long)place);
	if (is_record(list->path, label, length))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: %s %llu is a record, not a label: which of its fields is meant? %s FIELD",
		                 list->path, list->unit, (unsigned long long)place, list->field_option);
	return labels_add(list->labels, label, length, error);
}

static int
add_field(struct labels *labels, const struct fields_reader *reader, struct portolan_error *error)
{
	const char *name = reader->fields->names[0].text;
	const struct field *field = &reader->found[0];

	if (field->kind == FIELD_OTHER)
		return fields_wrong(reader, error, ": field '%s' is neither text, number nor truth value", name);
	if (!field->at || field->length == 0)
		return fields_wrong(reader, error, " has no field '%s', or it is empty", name);
	if (memchr(field->at, '\0', field->length))
		return fields_wrong(reader, error, ": field '%s' has a NUL character", name);
	return labels_add(labels, field->at, field->length, error);
}

/* 1: another record with the id was there before. */
static int
is_again(struct names *seen, const struct field *id, struct portolan_error *error)
{
	uint32_t known = seen->count, number = join_is_id(id) ? names_add(seen, id->at, id->length) : known;

	return number == NAMES_NONE ? out_of_memory(error) : number < known;
}

static int
read_field(struct labels *labels, const char *option, const char *path, const char *field_option, const char *field,
           const char *glue_id, struct portolan_error *error)
{
	const char *const names[] = {field, glue_id}, *const options[] = {field_option, "--id-field"};
	struct user_file file;
	struct fields fields;
	struct fields_reader reader = {0};
	struct names seen = {0};
	int code = user_file_open(&file, option, path, error);

	if (code < 0)
		return code;
	if (glue_id)
		user_file_read_as_glue(&file, glue_id);
	code = fields_init(&fields, &file, names, options, glue_id ? 2 : 1, error);
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (code >= 0 && (code = fields_next(&reader, error)) > 0) {
		int again = glue_id ? is_again(&seen, &reader.found[1], error) : 0;

		labels->passed += again > 0;
		code = again == 0 ? add_field(labels, &reader, error) : again;
	}
	labels->passed += reader.part.unlabelled;
	fields_end(&reader);
	names_free(&seen);
	user_file_close(&file);
	return code;
}

int
labels_read(struct labels *labels, const char *option, const char *path, const char *field_option, const char *field,
            const char *glue_id, struct portolan_error *error)
{
	struct list list = {.labels = labels, .path = path, .field_option = field_option};
	int code;

	*labels = (struct labels){0};
	code = field ? read_field(labels, option, path, field_option, field, glue_id, error)
	             : list_read(path, LIST_LABELS, &list.unit, take_label, &list, error);
	if (code >= 0)
		code = labels_finish(labels, error);
	if (code < 0)
		labels_free(labels);
	return code < 0 ? code : 0;
}
