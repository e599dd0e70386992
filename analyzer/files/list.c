/* list.c: reads a user's list of ids or labels, one value a line or a NumPy array, and passes each value to the caller
 * (list.h). */
#include "list.h"

#include "base/number.h"
#include "npy_read.h"
#include "records.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

struct reading {
	const char *path;
	enum list_kind kind;
	int (*visit)(void *context, uint64_t place, const char *value, size_t length, struct portolan_error *error);
	void *context;
};

static int
read_lines(const struct reading *reading, const struct content *content, struct portolan_error *error)
{
	size_t at = content->size >= 3 && memcmp(content->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	int code = 0;

	for (uint64_t line = 1; at < content->size && code >= 0; line++) {
		struct record record = records_next(TABLE_TSV, content->bytes + at, content->size - at);

		if (record.length > 0)
			code = reading->visit(reading->context, line, record.at, record.length, error);
		at += record.next;
	}
	return code;
}

/* Prints a whole number of 1 to 8 bytes, and returns its length. 0: it is negative, which no id is. */
static size_t
print_integer(const struct reading *reading, const struct npy_header *header, const uint8_t *at, char text[NUMBER_ROOM])
{
	unsigned spare = (unsigned)(64 - 8 * header->item_size);
	uint64_t value = 0;

	memcpy(&value, at, header->item_size); /* little-endian, as this machine is */
	if (header->kind != 'i' || !(value >> (63 - spare) & 1))
		return number_print_u64(value, text);
	return reading->kind == LIST_IDS
	               ? 0
	               : (size_t)snprintf(text, NUMBER_ROOM, "%" PRId64, (int64_t)(value << spare) >> spare);
}

/* Turns UTF-32 into UTF-8, without the zeros at its end. `text` has room for 4 bytes a character. False: a number is no
 * character of Unicode. */
static bool
encode(const uint8_t *at, size_t characters, char *text, size_t *length)
{
	size_t used = 0;

	*length = 0;
	for (size_t i = 0; i < characters; i++) {
		uint32_t character;
		int bytes;

		memcpy(&character, at + 4 * i, 4);
		bytes = u8_uctomb((uint8_t *)text + used, character, 4);
		if (bytes < 0)
			return false;
		used += (size_t)bytes;
		*length = character ? used : *length;
	}
	return true;
}

static int
read_row(const struct reading *reading, const struct npy_array *array, uint64_t row, char *text,
         struct portolan_error *error)
{
	const struct npy_header *header = &array->header;
	const uint8_t *at = array->data + row * header->item_size;
	size_t length = header->item_size;

	if (header->kind == 'S') {
		while (length > 0 && at[length - 1] == '\0')
			length--;
		return reading->visit(reading->context, row, (const char *)at, length, error);
	}
	if (header->kind == 'U' && !encode(at, header->item_size / 4, text, &length))
		return error_set(error, PORTOLAN_E_INVALID, "%s: row %llu (from 0) is not Unicode", reading->path,
		                 (unsigned long long)row);
	if (header->kind != 'U') {
		length = print_integer(reading, header, at, text);
		if (length == 0)
			return error_set(error, PORTOLAN_E_INVALID, "%s: row %llu (from 0) is negative: no id is",
			                 reading->path, (unsigned long long)row);
	}
	return reading->visit(reading->context, row, text, length, error);
}

static int
check_array(const struct reading *reading, const struct npy_header *header, struct portolan_error *error)
{
	bool labels = reading->kind == LIST_LABELS;
	bool numbers = strchr(labels ? "iub" : "iu", header->kind) && header->item_size <= 8;

	if (header->dimensions != 1)
		return labels ? error_set(error, PORTOLAN_E_INVALID,
		                          "%s: the NumPy header's shape has %zu dimensions, and must have one: a label "
		                          "for each row",
		                          reading->path, header->dimensions)
		              : error_set(error, PORTOLAN_E_INVALID,
		                          "%s: the NumPy header's shape has not one dimension, as ids have",
		                          reading->path);
	if (labels && header->kind == 'f')
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: the NumPy header's descr is one of floats, and labels are whole numbers or texts: "
		        "save y.astype('i8')",
		        reading->path);
	if (!numbers && header->kind != 'S' && header->kind != 'U')
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: the NumPy header's descr is neither of whole numbers nor of strings, as %s are",
		                 reading->path, labels ? "labels" : "ids");
	return 0;
}

static int
read_array(const struct reading *reading, struct portolan_error *error)
{
	struct npy_array array;
	char *text;
	int code = npy_open(&array, reading->path, error);

	if (code < 0)
		return code;
	text = malloc(array.header.item_size + NUMBER_ROOM);
	code = text ? check_array(reading, &array.header, error)
	            : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a value of %s", reading->path);
	for (uint64_t row = 0; code >= 0 && row < array.header.count; row++)
		code = read_row(reading, &array, row, text, error);
	free(text);
	npy_close(&array);
	return code;
}

int
list_read(const char *path, enum list_kind kind, const char **unit,
          int (*visit)(void *context, uint64_t place, const char *value, size_t length, struct portolan_error *error),
          void *context, struct portolan_error *error)
{
	struct reading reading = {path, kind, visit, context};
	struct content content;
	bool is_array;
	int code = content_open(&content, path, error);

	if (code < 0)
		return code;
	is_array = content.size >= 6 && memcmp(content.bytes, "\x93NUMPY", 6) == 0;
	*unit = is_array ? "row" : "line";
	if (!is_array)
		code = read_lines(&reading, &content, error);
	else if (!content.mapping)
		code = error_set(error, PORTOLAN_E_INVALID, "%s: a NumPy array must be a file, not a pipe", path);
	content_close(&content);
	return is_array && code >= 0 ? read_array(&reading, error) : code;
}
