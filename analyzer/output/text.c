/* text.c: writes single texts and numbers as CSV, TSV and JSON want them, with quotes and escapes, straight into the
 * buffer of an output (text.h). */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uniwidth.h>

/* Writes a field of CSV. `before` is a text that stands before the other in the same field. */
static void
write_csv(struct output *output, const char *before, const char *text, size_t length)
{
	bool quoted = false;

	for (size_t i = 0; i < length && !quoted; i++)
		quoted = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
	if (!quoted) {
		output_text(output, before);
		output_bytes(output, text, length);
		return;
	}
	output_bytes(output, "\"", 1);
	output_text(output, before);
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"')
			output_bytes(output, "\"", 1);
		output_bytes(output, text + i, 1);
	}
	output_bytes(output, "\"", 1);
}

void
text_csv(struct output *output, const char *text, size_t length)
{
	write_csv(output, "", text, length);
}

void
text_csv_for_spreadsheets(struct output *output, const char *text, size_t length)
{
	bool is_formula = length > 0 && memchr("=+-@\t\r\n", text[0], 7);

	write_csv(output, is_formula ? "'" : "", text, length);
}

void
text_tsv(struct output *output, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool ends = text[i] == '\t' || text[i] == '\n' || text[i] == '\r';

		output_bytes(output, ends ? " " : text + i, 1);
	}
}

void
text_json(struct output *output, const char *text, size_t length)
{
	size_t plain = 0;

	output_bytes(output, "\"", 1);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		output_bytes(output, text + plain, i - plain);
		plain = i + 1;
		if (c >= 0x20)
			output_bytes(output, (const char[]){'\\', (char)c}, 2);
		else
			output_printf(output, "\\u%04x", c);
	}
	output_bytes(output, text + plain, length - plain);
	output_bytes(output, "\"", 1);
}

void
text_number(struct output *output, double value)
{
	char *at = output_reserve(output, NUMBER_ROOM);

	output_commit(output, at + number_print(value, at));
}

void
text_integer(struct output *output, uint64_t value)
{
	char *at = output_reserve(output, NUMBER_ROOM);

	output_commit(output, at + number_print_u64(value, at));
}

void
text_id(struct output *output, const struct ids *ids, uint32_t index)
{
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text = id_print(ids, index, digits, &length);

	output_bytes(output, text, length);
}

size_t
text_width(const char *text, size_t length)
{
	int width = u8_width((const uint8_t *)text, length, "UTF-8");

	return width > 0 ? (size_t)width : 0;
}

size_t
text_print_short(double value, char *text)
{
	double size = fabs(value);
	char digits[NUMBER_ROOM];

	if (size >= 1e15 || (size > 0 && size < 0.001))
		return (size_t)snprintf(text, TEXT_SHORT_ROOM, "%.3g", value);
	if (size < 1000)
		return (size_t)snprintf(text, TEXT_SHORT_ROOM, "%.3f", value);
	number_print_grouped((uint64_t)llround(size), digits);
	return (size_t)snprintf(text, TEXT_SHORT_ROOM, "%s%s", value < 0 ? "-" : "", digits);
}
