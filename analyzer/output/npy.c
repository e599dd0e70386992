/*
 * npy.c: the header of a .npy file: magic, version, length, and a Python dictionary literal padded with spaces so that
 * the data begin at a multiple of 64 bytes.
 */
#include "npy.h"

#include "base/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define DIGITS_MOST 20 /* of a row count */

/* A name as a Python string literal. */
static void
print_literal(FILE *text, const char *name)
{
	fputc('\'', text);
	for (; *name; name++) {
		if (*name == '\'' || *name == '\\')
			fputc('\\', text);
		fputc(*name, text);
	}
	fputc('\'', text);
}

/* `dictionary` is what stands between the braces, made by the caller; freed here. `most` is the length that it could
 * have. */
static void
write_header(struct output *output, char *dictionary, size_t length, size_t most, bool ascii)
{
	size_t fixed = ascii ? 10 : 12; /* magic, version, and a length of 2 or 4 bytes */
	size_t unpadded = fixed + most + 1;
	size_t padding = most - length + (ALIGNMENT - unpadded % ALIGNMENT) % ALIGNMENT;
	uint32_t size = (uint32_t)(length + padding + 1);
	uint8_t bytes[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};

	output_bytes(output, ascii ? "\x93NUMPY\x01\x00" : "\x93NUMPY\x03\x00", 8);
	output_bytes(output, bytes, fixed - 8);
	output_bytes(output, dictionary, length);
	output_printf(output, "%*s\n", (int)padding, "");
	free(dictionary);
}

static FILE *
open_text(struct output *output, char **text, size_t *length)
{
	FILE *stream = open_memstream(text, length);

	if (!stream)
		output_fail(output);
	return stream;
}

void
npy_write_records_header(struct output *output, const struct npy_field *fields, size_t count, uint64_t rows)
{
	bool ascii = true;
	int digits;
	char *text;
	size_t length;
	FILE *stream = open_text(output, &text, &length);

	if (!stream)
		return;
	fputs("{'descr': [", stream);
	for (size_t i = 0; i < count; i++) {
		for (const char *c = fields[i].name; *c; c++)
			ascii = ascii && (unsigned char)*c < 0x80;
		fputs(i ? ", (" : "(", stream);
		print_literal(stream, fields[i].name);
		fprintf(stream, ", '%s')", fields[i].type);
	}
	digits = fprintf(stream, "], 'fortran_order': False, 'shape': (%llu,), }", (unsigned long long)rows) -
	         (int)strlen("], 'fortran_order': False, 'shape': (,), }");
	if (fclose(stream) != 0) {
		output_fail(output);
		return;
	}
	write_header(output, text, length, length + DIGITS_MOST - (size_t)digits, ascii && length < 60000);
}

void
npy_write_header(struct output *output, const char *type, uint64_t rows)
{
	char *text;
	size_t length;
	FILE *stream = open_text(output, &text, &length);

	if (!stream)
		return;
	fprintf(stream, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }", type, (unsigned long long)rows);
	if (fclose(stream) != 0) {
		output_fail(output);
		return;
	}
	write_header(output, text, length, length, true);
}

void
npy_put_text(char *at, size_t characters, const char *text, size_t length)
{
	char *end = at + 4 * characters;

	for (size_t i = 0; i < length; at += 4) {
		uint32_t character;

		i += text_character(text + i, length - i, &character);
		memcpy(at, &character, 4);
	}
	memset(at, 0, (size_t)(end - at));
}
