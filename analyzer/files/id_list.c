/* id_list.c: every id as text, whatever it was written as: then one way of finding it is enough. */
#include "id_list.h"

#include "npy_read.h"
#include "program/number.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

struct reading {
	const char *path;
	int (*visit)(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error);
	void *context;
};

static int
read_lines(const struct reading *reading, const struct content *content, struct portolan_error *error)
{
	const char *at = content->bytes, *end = at + content->size;
	int code = 0;

	if (content->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	for (uint64_t line = 1; at < end && code >= 0; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		if (length > 0 && at[length - 1] == '\r')
			length--;
		if (length > 0)
			code = reading->visit(reading->context, line, at, length, error);
		at = newline ? newline + 1 : end;
	}
	return code;
}

/* A whole number of 1 to 8 bytes as text; 0: it is negative. */
static size_t
print_integer(const uint8_t *at, const struct npy_header *header, char text[NUMBER_ROOM])
{
	uint64_t value = 0;

	memcpy(&value, at, header->item_size); /* little-endian, as this machine is */
	if (header->kind == 'i' && value >> (8 * header->item_size - 1) & 1)
		return 0;
	return number_print_u64(value, text);
}

/* UTF-32 as UTF-8, without the zeros at the end; false: not Unicode. */
static bool
encode(const uint8_t *at, size_t characters, char *text, size_t *length)
{
	size_t used = 0, end = 0;

	for (size_t i = 0; i < characters; i++) {
		uint32_t c;

		memcpy(&c, at + 4 * i, 4);
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return false;
		if (c >= 0x10000)
			text[used++] = (char)(0xf0 | c >> 18);
		if (c >= 0x800)
			text[used++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12);
		if (c >= 0x80)
			text[used++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
		text[used++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
		end = c ? used : end;
	}
	*length = end;
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
		length = print_integer(at, header, text);
		if (length == 0)
			return error_set(error, PORTOLAN_E_INVALID, "%s: row %llu (from 0) is negative: no id is",
			                 reading->path, (unsigned long long)row);
	}
	return reading->visit(reading->context, row, text, length, error);
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
	if (!text)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for an id");
	else if (array.header.dimensions != 1)
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s: the NumPy header's shape has not one dimension, as ids have", reading->path);
	else if (!strchr("iuSU", array.header.kind) ||
	         (array.header.kind != 'S' && array.header.kind != 'U' && array.header.item_size > 8))
		code = error_set(error, PORTOLAN_E_INVALID,
		                 "%s: the NumPy header's descr is neither of whole numbers nor of strings, as ids are",
		                 reading->path);
	for (uint64_t row = 0; code >= 0 && row < array.header.count; row++)
		code = read_row(reading, &array, row, text, error);
	free(text);
	npy_close(&array);
	return code;
}

int
id_list_read(const char *path, const char **unit,
             int (*visit)(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error),
             void *context, struct portolan_error *error)
{
	struct reading reading = {path, visit, context};
	struct content content;
	bool is_array;
	int code = content_open(&content, path, error);

	if (code < 0)
		return code;
	is_array = content.size >= 6 && memcmp(content.bytes, "\x93NUMPY", 6) == 0;
	*unit = is_array ? "row" : "line";
	if (!is_array)
		code = read_lines(&reading, &content, error);
	else if (!content.is_mapped)
		code = error_set(error, PORTOLAN_E_INVALID, "%s: a NumPy array must be a file, not a pipe", path);
	content_close(&content);
	return is_array && code >= 0 ? read_array(&reading, error) : code;
}
