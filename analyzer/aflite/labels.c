/*
 * labels.c: every label is a text, whatever it was written as, so that one way of telling them apart is enough; classes
 * get their numbers in the order of their names, so these do not depend on the order of the rows.
 */
#include "labels.h"

#include "files/categories.h"
#include "files/id_list.h"
#include "files/npy_read.h"

#include <portolan/error.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

static int
out_of_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the labels");
}

void
labels_free(struct labels *labels)
{
	for (size_t i = 0; i < labels->found.name_count; i++)
		free(labels->found.names[i]);
	free(labels->found.names);
	if (labels->index)
		categories_free(labels->index);
	free(labels->index);
	free(labels->values);
	free(labels->names);
	free(labels->examples);
	*labels = (struct labels){0};
}

int
labels_add(struct labels *labels, const char *text, size_t length, struct portolan_error *error)
{
	char buffer[256], *copy = length < sizeof(buffer) ? buffer : malloc(length + 1);
	int32_t number = -1;

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	if (labels->count == labels->room) {
		size_t room = labels->room ? 2 * labels->room : 4096;
		uint32_t *grown = realloc(labels->values, room * sizeof(*grown));

		labels->values = grown ? grown : labels->values;
		labels->room = grown ? room : labels->room;
	}
	if (!labels->index)
		labels->index = calloc(1, sizeof(*labels->index));
	if (copy && labels->index && labels->count < labels->room)
		number = categories_find(labels->index, &labels->found, copy);
	if (copy != buffer)
		free(copy);
	if (number < 0)
		return out_of_memory(error);
	labels->values[labels->count++] = (uint32_t)number;
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
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
compare_numbers(const void *a, const void *b)
{
	intmax_t x = 0, y = 0;

	parse_integer(*(char *const *)a, &x);
	parse_integer(*(char *const *)b, &y);
	return x < y ? -1 : x > y ? 1 : compare_names(a, b);
}

static bool
are_numbers(char *const *names, size_t count)
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
	size_t classes = labels->found.name_count;
	uint32_t *order = malloc((classes + 1) * sizeof(*order));

	labels->names = malloc((classes + 1) * sizeof(*labels->names));
	labels->examples = calloc(classes + 1, sizeof(*labels->examples));
	if (!order || !labels->names || !labels->examples) {
		free(order);
		return out_of_memory(error);
	}
	if (classes > 0) {
		memcpy(labels->names, labels->found.names, classes * sizeof(*labels->names));
		qsort(labels->names, classes, sizeof(*labels->names),
		      are_numbers(labels->names, classes) ? compare_numbers : compare_names);
	}
	for (size_t c = 0; c < classes; c++) {
		int32_t number = categories_find(labels->index, &labels->found, labels->names[c]);

		order[number] = (uint32_t)c;
		labels->digest = XXH3_64bits_withSeed(labels->names[c], strlen(labels->names[c]) + 1, labels->digest);
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

static int
take_id(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	(void)place;
	return labels_add(context, id, length, error);
}

/* Whole numbers of 1 to 8 bytes, with or without sign, and truth values. */
static int
read_numbers(struct labels *labels, const struct npy_array *array, struct portolan_error *error)
{
	const struct npy_header *header = &array->header;
	int code = 0;

	for (uint64_t row = 0; code >= 0 && row < header->count; row++) {
		uint64_t value = 0;
		unsigned spare = (unsigned)(64 - 8 * header->item_size);
		char text[32];

		memcpy(&value, array->data + row * header->item_size,
		       header->item_size); /* little-endian, as this machine */
		if (header->kind == 'i')
			snprintf(text, sizeof(text), "%" PRId64, (int64_t)(value << spare) >> spare);
		else
			snprintf(text, sizeof(text), "%" PRIu64, value);
		code = labels_add(labels, text, strlen(text), error);
	}
	return code;
}

static int
read_array(struct labels *labels, const char *path, struct portolan_error *error)
{
	struct npy_array array;
	const char *unit;
	int code = npy_open(&array, path, error);

	if (code < 0)
		return code;
	if (array.header.dimensions != 1)
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: the NumPy header's shape has %zu dimensions, and must have one: a label for each row",
		        path, array.header.dimensions);
	else if (array.header.kind == 'f')
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: the NumPy header's descr is one of floats, and labels are whole numbers or texts: save "
		        "y.astype('i8')",
		        path);
	else if (strchr("iub", array.header.kind) && array.header.item_size <= 8)
		code = read_numbers(labels, &array, error);
	else
		code = id_list_read(path, &unit, take_id, labels, error);
	npy_close(&array);
	return code;
}

static int
read_field(struct labels *labels, const char *option, const char *path, const char *field_option, const char *field,
           struct portolan_error *error)
{
	struct user_file file;
	struct user_record record = {0};
	size_t column = 0;
	int code;

	code = user_file_open(&file, option, path, error);

	if (code >= 0 && file.format != RECORDS_JSONL)
		code = user_file_column(&file, field_option, field, &column, error);
	while (code >= 0 && (code = user_file_next(&file, &record, error)) > 0) {
		enum records_json_kind kind = RECORDS_JSON_NONE;
		long length = file.format == RECORDS_JSONL
		                      ? records_json_value(&record.record, field, &kind, record.text)
		                      : records_field(file.format, &record.record, column, record.text);

		if (kind == RECORDS_JSON_TRUE || kind == RECORDS_JSON_FALSE) {
			record.text[0] = kind == RECORDS_JSON_TRUE ? '1' : '0'; /* as NumPy's are read */
			length = 1;
		}
		if (length == -2)
			code = user_file_malformed(&file, &record, error);
		else if (kind == RECORDS_JSON_OTHER)
			code = error_set(error, PORTOLAN_E_INVALID,
			                 "%s: line %llu: field '%s' is neither text, number nor truth value", path,
			                 (unsigned long long)record.line, field);
		else if (length <= 0)
			code = error_set(error, PORTOLAN_E_INVALID, "%s: line %llu has no field '%s', or it is empty",
			                 path, (unsigned long long)record.line, field);
		else
			code = labels_add(labels, record.text, (size_t)length, error);
	}
	user_record_end(&record);
	user_file_close(&file);
	return code;
}

/* A pipe can be read once, so what it brings is text. */
static int
read_list(struct labels *labels, const char *path, struct portolan_error *error)
{
	struct content content;
	struct stat status;
	const char *unit;
	bool is_array = false;
	int code;

	if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
		code = content_open(&content, path, error);
		if (code < 0)
			return code;
		is_array = content.size >= 6 && memcmp(content.bytes, "\x93NUMPY", 6) == 0;
		content_close(&content);
	}
	return is_array ? read_array(labels, path, error) : id_list_read(path, &unit, take_id, labels, error);
}

int
labels_read(struct labels *labels, const char *option, const char *path, const char *field_option, const char *field,
            struct portolan_error *error)
{
	int code;

	*labels = (struct labels){0};
	code = field ? read_field(labels, option, path, field_option, field, error) : read_list(labels, path, error);
	if (code >= 0)
		code = labels_finish(labels, error);
	if (code < 0)
		labels_free(labels);
	return code < 0 ? code : 0;
}
