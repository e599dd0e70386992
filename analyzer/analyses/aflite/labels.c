/*
 * labels.c: reads the label, or the group, of each row of features from a NumPy array, text or a field of records, for
 * input.c.
 *
 * A label is its text, also where it was written as a number. Classes are numbered in the order of their texts, so the
 * numbers do not depend on the order of the rows.
 */
#include "labels.h"

#include "files/join.h"
#include "files/list.h"
#include "die/die.h"
#include "die/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
labels_free(struct labels *labels)
{
	names_free(&labels->found);
	free(labels->values);
	free(labels->names);
	free(labels->examples);
	*labels = (struct labels){0};
}

void
labels_add(struct labels *labels, const char *text, size_t length)
{
	labels->values = memory_grow(labels->values, &labels->room, labels->count + 1, sizeof(*labels->values));
	labels->values[labels->count++] = memory_name(&labels->found, text, length);
}

static bool
labels_parse_number(const char *text, intmax_t *value)
{
	char *end;

	errno = 0;
	*value = strtoimax(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && (*text == '-' || (*text >= '0' && *text <= '9'));
}

static int
labels_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
labels_compare_numbers(const void *a, const void *b)
{
	intmax_t x = 0, y = 0;

	labels_parse_number(*(const char *const *)a, &x);
	labels_parse_number(*(const char *const *)b, &y);
	return x < y ? -1 : x > y ? 1 : labels_compare_names(a, b);
}

static bool
labels_are_numbers(const char *const *names, size_t count)
{
	intmax_t value;

	for (size_t i = 0; i < count; i++)
		if (!labels_parse_number(names[i], &value))
			return false;
	return true;
}

int64_t
labels_gap(const struct labels *labels)
{
	intmax_t first, next;

	if (labels->class_count == 0 || !labels_are_numbers(labels->names, labels->class_count))
		return -1;
	labels_parse_number(labels->names[0], &first);
	if (first != 0 && first != 1)
		return first > 0 ? 0 : -1;
	for (size_t c = 1; c < labels->class_count; c++) {
		labels_parse_number(labels->names[c], &next);
		if (next != first + 1)
			return first + 1;
		first = next;
	}
	return -1;
}

void
labels_finish(struct labels *labels)
{
	size_t classes = labels->found.count, length;
	CLEANUP_FREE uint32_t *order = memory_new(classes, sizeof(*order));

	labels->names = memory_new(classes, sizeof(*labels->names));
	labels->examples = memory_new(classes, sizeof(*labels->examples));
	for (size_t c = 0; c < classes; c++)
		labels->names[c] = names_text(&labels->found, (uint32_t)c, &length);
	qsort(labels->names, classes, sizeof(*labels->names),
	      labels_are_numbers(labels->names, classes) ? labels_compare_numbers : labels_compare_names);
	for (size_t c = 0; c < classes; c++) {
		const char *name = labels->names[c];

		order[names_find(&labels->found, name, strlen(name))] = (uint32_t)c;
		labels->digest = XXH3_64bits_withSeed(name, strlen(name) + 1, labels->digest);
	}
	for (size_t i = 0; i < labels->count; i++) {
		labels->values[i] = order[labels->values[i]];
		labels->examples[labels->values[i]]++;
	}
	labels->class_count = classes;
	labels->digest = XXH3_64bits_withSeed(labels->values, labels->count * sizeof(uint32_t), labels->digest);
}

void
labels_keep(struct labels *labels, const uint32_t *rows, size_t count)
{
	struct labels kept = {0};

	for (size_t i = 0; i < count; i++) {
		const char *name = labels->names[labels->values[rows[i]]];

		labels_add(&kept, name, strlen(name));
	}
	labels_finish(&kept);
	labels_free(labels);
	*labels = kept;
}

struct list {
	struct labels *labels;
	const char *path;
	const char *unit;
	const char *field_option;
};

/* Is the line a record rather than a label? It is if it is a JSON object, or if the file's name is that of a table and
 * the line has several fields. */
static bool
labels_is_record(const char *path, const char *line, size_t length)
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

/* Adds one line of a list as a label. Called by list_read(). */
static int
labels_take_line(void *context, uint64_t place, const char *label, size_t length, struct portolan_error *error)
{
	const struct list *list = context;
	unsigned long long at = place;

	(void)error;
	if (length == 0)
		die("%s: the label in %s %llu is empty", list->path, list->unit, at);
	if (memchr(label, '\0', length))
		die("%s: the label in %s %llu has a NUL character", list->path, list->unit, at);
	if (labels_is_record(list->path, label, length))
		die("%s: %s %llu is a record, not a label: which of its fields is meant? %s FIELD", list->path,
		    list->unit, at, list->field_option);
	labels_add(list->labels, label, length);
	return 0;
}

static void
labels_take_field(struct labels *labels, const struct fields_reader *reader)
{
	const char *name = reader->fields->names[0].text;
	const struct field *field = &reader->found[0];

	if (field->kind == FIELD_OTHER)
		must(fields_wrong(reader, &failure, ": field '%s' is neither text, number nor truth value", name));
	if (!field->at || field->length == 0)
		must(fields_wrong(reader, &failure, " has no field '%s', or it is empty", name));
	if (memchr(field->at, '\0', field->length))
		must(fields_wrong(reader, &failure, ": field '%s' has a NUL character", name));
	labels_add(labels, field->at, field->length);
}

/* Has an earlier record the same id? */
static bool
labels_is_again(struct names *seen, const struct field *id)
{
	uint32_t known = seen->count;

	return join_is_id(id) && memory_name(seen, id->at, id->length) < known;
}

static void
labels_read_field(struct labels *labels, const char *option, const char *path, const char *field_option,
                  const char *field, const char *glue_id)
{
	const char *const names[] = {field, glue_id}, *const options[] = {field_option, "--id-field"};
	struct user_file file;
	struct fields fields;
	struct fields_reader reader = {0};
	CLEANUP(names_free) struct names seen = {0};

	must(user_file_open(&file, option, path, &failure));
	if (glue_id)
		user_file_read_as_glue(&file, glue_id);
	must(fields_init(&fields, &file, names, options, glue_id ? 2 : 1, &failure));
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (must(fields_next(&reader, &failure)) > 0) {
		bool again = glue_id && labels_is_again(&seen, &reader.found[1]);

		labels->passed += again;
		if (!again)
			labels_take_field(labels, &reader);
	}
	labels->passed += reader.part.unlabelled;
	fields_end(&reader);
	user_file_close(&file);
}

void
labels_read(struct labels *labels, const char *option, const char *path, const char *field_option, const char *field,
            const char *glue_id)
{
	struct list list = {.labels = labels, .path = path, .field_option = field_option};

	*labels = (struct labels){0};
	if (field)
		labels_read_field(labels, option, path, field_option, field, glue_id);
	else
		must(list_read(path, LIST_LABELS, &list.unit, labels_take_line, &list, &failure));
	labels_finish(labels);
}
