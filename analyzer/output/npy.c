/*
 * npy.c: writes the header of a .npy file, so that NumPy can read the arrays and tables that commands write (npy.h).
 *
 * The header is a magic string, a version, a length, and a Python dictionary literal, padded with spaces so that the
 * data begin at a multiple of 64 bytes.
 */
#include "npy.h"

#include "base/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define DIGITS_MOST 20 /* the most digits that a number of rows has */

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

/* Writes the header of an array of the type `descr`. It leaves room for a number of rows with `spare` more digits, so
 * that it can be replaced. */
static void
write_header(struct output *output, const char *descr, uint64_t rows, size_t spare, bool ascii)
{
	char *text;
	int printed = asprintf(&text, "{'descr': %s, 'fortran_order': False, 'shape': (%llu,), }", descr,
	                       (unsigned long long)rows);
	size_t length = printed < 0 ? 0 : (size_t)printed;
	bool is_short = ascii && length < 60000;
	size_t fixed = is_short ? 10 : 12; /* magic, version, and a length of 2 or 4 bytes */
	size_t padding = spare + (ALIGNMENT - (fixed + length + spare + 1) % ALIGNMENT) % ALIGNMENT;
	uint32_t size = (uint32_t)(length + padding + 1);
	uint8_t bytes[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};

	if (printed < 0) {
		output_fail(output);
		return;
	}
	output_bytes(output, is_short ? "\x93NUMPY\x01\x00" : "\x93NUMPY\x03\x00", 8);
	output_bytes(output, bytes, fixed - 8);
	output_bytes(output, text, length);
	output_printf(output, "%*s\n", (int)padding, "");
	free(text);
}

void
npy_write_records_header(struct output *output, const struct npy_field *fields, size_t count, uint64_t rows)
{
	char *descr = NULL, digits[NUMBER_ROOM];
	bool ascii = true;
	size_t length;
	FILE *stream = open_memstream(&descr, &length);

	if (!stream) {
		output_fail(output);
		return;
	}
	fputc('[', stream);
	for (size_t i = 0; i < count; i++) {
		for (const char *c = fields[i].name; *c; c++)
			ascii = ascii && (unsigned char)*c < 0x80;
		fputs(i ? ", (" : "(", stream);
		print_literal(stream, fields[i].name);
		fprintf(stream, ", '%s')", fields[i].type);
	}
	fputc(']', stream);
	if (fclose(stream) == 0)
		write_header(output, descr, rows, DIGITS_MOST - number_print_u64(rows, digits), ascii);
	else
		output_fail(output);
	free(descr);
}

void
npy_write_header(struct output *output, const char *type, uint64_t rows)
{
	char descr[NPY_TYPE_ROOM + 2];

	snprintf(descr, sizeof(descr), "'%s'", type);
	write_header(output, descr, rows, 0, true);
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
