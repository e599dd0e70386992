/*
 * script.c: writes the variables of gnuplot scripts, for maps and charts: numbers, and any text as a string that can do
 * nothing but be shown.
 *
 * Inside single quotes only the quote itself and the line end mean something. A quote is shown as the typographic one
 * (U+2019): gnuplot's own way of writing it, doubled, fails at the beginning of a string. Line ends and tabs become
 * spaces, so that words stay apart. Other control characters (C0 and C1), characters that change the direction of the
 * text after them, and bytes that are not UTF-8 are removed; the text library would refuse to draw such bytes. A
 * character that no font has would be drawn as a box that can be larger than the picture, so a mark (U+FFFD) takes its
 * place.
 */
#include "script.h"

#include <math.h>
#include <string.h>

/* For a name whose middle is cut out: widths, in ems. */
#define ELLIPSIS 1.0
#define END_LEAST 1.0 /* the least that stays of its beginning, and of its end */

size_t
plot_decode(const unsigned char *text, uint32_t *character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;

	if (text[0] >= 0xf8 || (text[0] >= 0x80 && text[0] < 0xc0))
		return 0;
	*character = size == 1 ? text[0] : text[0] & (0xff >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (text[i] & 0x3f);
	}
	if (*character < least[size] || *character > 0x10ffff || (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return size;
}

static bool
plot_is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
	       (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

/* Does DejaVu Sans, which gnuplot-nox brings along, have the character? */
static bool
plot_has_common(uint32_t character)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {{0x20, 0x2ff},    {0x370, 0x373},   {0x37a, 0x3ff},   {0x400, 0x4ff},  {0x1e00, 0x1eff},
	              {0x2010, 0x203a}, {0x20ac, 0x20ac}, {0x2190, 0x21ff}, {0x2200, 0x22ff}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (character >= ranges[i].from && character <= ranges[i].to)
			return true;
	return false;
}

/* The width of a character in DejaVu Sans, in ems: an estimate, rather too wide than too narrow. Chinese, Japanese,
 * Korean and pictograms are square. */
static double
plot_character_width(uint32_t character)
{
	if (character >= 0x2e80)
		return 1.05;
	if (character < 0x80 && strchr("ijlI.,:;|!'()[]/ ", (int)character))
		return 0.38;
	if (character < 0x80 && strchr("mwMW@%", (int)character))
		return 1;
	return character < 0x80 && (character < 'A' || character > 'Z') ? 0.64 : 0.78;
}

double
plot_width(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t character;
	double width = 0;

	for (size_t size; *at; at += size ? size : 1) {
		size = plot_decode(at, &character);
		if (size > 0 && !plot_is_control(character))
			width += plot_character_width(character);
	}
	return width;
}

/* Writes a text without the characters that cannot be shown. A text wider than `room` ems is cut, and ends with an
 * ellipsis (…). */
static void
script_write_shown(FILE *stream, const char *text, double room)
{
	const unsigned char *at = (const unsigned char *)text;
	double width = 0;

	while (*at) {
		uint32_t character;
		size_t size = plot_decode(at, &character);
		bool is_space = *at == '\n' || *at == '\t';

		if (is_space)
			character = ' ';
		if (size == 0 || plot_is_control(character)) {
			at += size ? size : 1;
			continue;
		}
		width += plot_character_width(character);
		if (width > room) {
			fputs("…", stream);
			break;
		}
		if (is_space)
			fputc(' ', stream);
		else if (character == '\'')
			fputs("’", stream);
		else
			fwrite(at, 1, size, stream);
		at += size;
	}
}

/* Writes a text as a string of gnuplot's, cut to `room` ems. */
static void
script_quote(FILE *stream, const char *text, double room)
{
	fputc('\'', stream);
	script_write_shown(stream, text, room);
	fputc('\'', stream);
}

/* Writes a name as a string of gnuplot's. Where it would be wider than `room` ems, its middle is cut out. */
static void
script_quote_name(FILE *stream, const char *name, double room)
{
	double half = (room - ELLIPSIS) / 2;
	const char *end = name;

	if (plot_width(name) <= room || half < END_LEAST) {
		script_quote(stream, name, room);
		return;
	}
	for (uint32_t character; plot_width(end) > half;) {
		size_t size = plot_decode((const unsigned char *)end, &character);

		end += size ? size : 1;
	}
	fputc('\'', stream);
	script_write_shown(stream, name, half);
	script_write_shown(stream, end, INFINITY);
	fputc('\'', stream);
}

bool
plot_is_common(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t character;

	for (size_t size; *at; at += size ? size : 1) {
		size = plot_decode(at, &character);
		if (size > 1 && !plot_has_common(character))
			return false;
	}
	return true;
}

const char *
plot_replace_undrawn(struct output *output, const char *text, const uint8_t *drawn)
{
	const unsigned char *at = (const unsigned char *)text, *first = NULL;

	while (*at) {
		uint32_t character;
		size_t size = plot_decode(at, &character);

		if (size > 1 && !plot_has_common(character) && !(drawn && drawn[character / 8] & 1 << character % 8)) {
			first = first ? first : at;
			output_text(output, "\xef\xbf\xbd");
		} else {
			output_bytes(output, at, size ? size : 1);
		}
		at += size ? size : 1;
	}
	return (const char *)first;
}

static void
script_write_number(FILE *stream, double value)
{
	if (isfinite(value))
		fprintf(stream, "%.10g", value);
	else
		fputs("NaN", stream); /* gnuplot knows no other spelling */
}

void
script_set_all(FILE *stream, const char *names, const double *values)
{
	for (int length; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		fprintf(stream, "%.*s = ", length, names);
		script_write_number(stream, *values++);
		fputc('\n', stream);
	}
}

void
script_set(FILE *stream, const char *name, double value)
{
	script_set_all(stream, name, &value);
}

void
script_set_text(FILE *stream, const char *name, const char *text, double room)
{
	fprintf(stream, "%s = ", name);
	script_quote(stream, text, room);
	fputc('\n', stream);
}

void
script_declare(FILE *stream, const char *names, size_t size)
{
	for (int length; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		fprintf(stream, "array %.*s[%zu]%s", length, names, size, names[length] ? "; " : "\n");
	}
}

void
script_set_items(FILE *stream, const char *names, size_t item, const double *values)
{
	for (int length; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		fprintf(stream, "%.*s[%zu] = ", length, names, item);
		script_write_number(stream, *values++);
		fputs(names[length] ? "; " : "\n", stream);
	}
}

void
script_set_text_item(FILE *stream, const char *name, size_t item, const char *text, double room)
{
	fprintf(stream, "%s[%zu] = ", name, item);
	script_quote(stream, text, room);
	fputs("; ", stream);
}

void
script_set_name_item(FILE *stream, const char *name, size_t item, const char *text, double room)
{
	fprintf(stream, "%s[%zu] = ", name, item);
	script_quote_name(stream, text, room);
	fputs("; ", stream);
}
