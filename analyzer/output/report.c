/* report.c: writes the results of a command, as JSON for programs or as lines of text for people, from the same calls
 * (report.h). */
#include "report.h"

#include "base/number.h"
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define KEY_WIDTH 16 /* columns that a key takes in text */
#define LINE_WIDTH 80

int
report_open(struct report *report, const char *path, unsigned indent, struct portolan_error *error)
{
	*report = (struct report){.indent = indent, .is_first = true};
	return output_open(&report->output, path, error);
}

int
report_open_text(struct report *report, const char *path, struct portolan_error *error)
{
	*report = (struct report){.as_text = true, .is_first = true};
	return output_open(&report->output, path, error);
}

int
report_open_memory(struct report *report, struct portolan_error *error)
{
	*report = (struct report){.is_first = true};
	return output_open_memory(&report->output, 1u << 12, error);
}

int
report_close(struct report *report, struct portolan_error *error)
{
	if (!report->as_text)
		output_bytes(&report->output, "\n", 1);
	return output_finish(&report->output, error);
}

void
report_discard(struct report *report)
{
	output_discard(&report->output);
}

static void
begin_line(struct report *report)
{
	if (report->indent > 0)
		output_printf(&report->output, "\n%*s", (int)(report->indent * report->level), "");
}

/* "never_closed" is "never closed" to people. */
static void
print_key(struct output *output, const char *key, size_t width)
{
	for (; *key; key++, width -= width > 0)
		output_bytes(output, *key == '_' ? " " : key, 1);
	output_printf(output, "%*s ", (int)width, "");
}

/* Begins a member of a report that is text. A member of the document has a line; its own members follow in it, with
 * commas between them, on as many lines as they take. `width`: of the value. */
static void
begin_text(struct report *report, const char *key, size_t width)
{
	const size_t indent = KEY_WIDTH + 3;
	size_t whole = key ? text_width(key, strlen(key)) + 1 + width : width;

	if (report->level == 1) {
		output_text(&report->output, "  ");
		report->column = key ? indent + width : 2 + width;
	} else if (report->is_first) {
		report->column += whole;
	} else if (key && report->column + whole + 3 > LINE_WIDTH) { /* with the commas before and after it */
		output_printf(&report->output, ",\n%*s", (int)indent, "");
		report->column = indent + whole;
	} else {
		output_text(&report->output, ", ");
		report->column += whole + 2;
	}
	report->is_first = false;
	if (key)
		print_key(&report->output, key, report->level == 1 ? KEY_WIDTH : 0);
}

static void
end_text(struct report *report)
{
	if (report->level == 1)
		output_text(&report->output, "\n");
}

/* Writes what stands before a value: the separator and the key. `width`: how wide the value is in text. */
static void
begin_member(struct report *report, const char *key, size_t width)
{
	if (report->as_text) {
		begin_text(report, key, width);
		return;
	}
	if (!report->is_first)
		output_bytes(&report->output, ",", 1);
	if (report->level > 0)
		begin_line(report);
	report->is_first = false;
	if (!key)
		return;
	text_json(&report->output, key, strlen(key));
	output_text(&report->output, report->indent > 0 ? ": " : ":");
}

static void
begin(struct report *report, const char *key, bool is_list)
{
	if (!report->as_text || report->level > 0)
		begin_member(report, key, 0);
	if (!report->as_text)
		output_bytes(&report->output, is_list ? "[" : "{", 1);
	report->level++;
	report->lists = (report->lists & ~(UINT64_C(1) << report->level)) | (uint64_t)is_list << report->level;
	report->is_first = true;
}

void
report_begin(struct report *report, const char *key)
{
	begin(report, key, false);
}

void
report_begin_list(struct report *report, const char *key)
{
	begin(report, key, true);
}

void
report_end(struct report *report)
{
	bool is_list = report->lists >> report->level & 1;

	report->level--;
	if (!report->as_text) {
		if (!report->is_first)
			begin_line(report);
		output_bytes(&report->output, is_list ? "]" : "}", 1);
	} else {
		end_text(report);
	}
	report->is_first = false;
}

/* Writes a text of which each byte is a character. */
static void
print_latin_1(struct output *output, const char *text, size_t length)
{
	char *utf8 = malloc(2 * length), *to = utf8;

	if (!utf8) {
		output_fail(output);
		return;
	}
	for (size_t i = 0; i < length; i++)
		to += u8_uctomb((uint8_t *)to, (unsigned char)text[i], 2);
	text_json(output, utf8, (size_t)(to - utf8));
	free(utf8);
}

void
report_print_text(struct output *output, const char *text, size_t length)
{
	if (u8_check((const uint8_t *)text, length))
		print_latin_1(output, text, length);
	else
		text_json(output, text, length);
}

void
report_bytes(struct report *report, const char *key, const char *text, size_t length)
{
	begin_member(report, key, report->as_text ? text_width(text, length) : 0);
	if (!report->as_text) {
		report_print_text(&report->output, text, length);
		return;
	}
	output_bytes(&report->output, text, length);
	end_text(report);
}

void
report_text(struct report *report, const char *key, const char *text)
{
	if (text)
		report_bytes(report, key, text, strlen(text));
	else
		report_null(report, key);
}

void
report_whole(struct report *report, const char *key, uint64_t value)
{
	char text[NUMBER_ROOM];

	begin_member(report, key, number_print_grouped(value, text));
	if (!report->as_text) {
		text_integer(&report->output, value);
		return;
	}
	output_text(&report->output, text);
	end_text(report);
}

void
report_wholes(struct report *report, const struct report_whole *list, size_t count)
{
	if (report->as_text) { /* the members after the first follow it in its line */
		const char *first = NUMBER_GROUPED(list[0].value);

		begin_text(report, list[0].key, strlen(first));
		output_text(&report->output, first);
		report->level++;
	}
	for (size_t i = report->as_text; i < count; i++)
		report_whole(report, list[i].key, list[i].value);
	if (report->as_text) {
		report->level--;
		end_text(report);
	}
}

/* Prints the number with a point or an exponent, so that programs read it back as a real number. */
static void
print_real(struct output *output, double value)
{
	char text[NUMBER_ROOM + 2];
	size_t length = number_print(value, text);

	if (!strpbrk(text, ".e"))
		memcpy(text + length, ".0", 3);
	output_text(output, text);
}

void
report_real(struct report *report, const char *key, double value)
{
	char text[TEXT_SHORT_ROOM];

	if (!isfinite(value)) {
		report_null(report, key);
		return;
	}
	begin_member(report, key, text_print_short(value, text));
	if (!report->as_text) {
		print_real(&report->output, value);
		return;
	}
	output_text(&report->output, text);
	end_text(report);
}

/* Adds true, false or null; text has `of_text` for it. */
static void
add_word(struct report *report, const char *key, const char *word, const char *of_text)
{
	begin_member(report, key, strlen(of_text));
	output_text(&report->output, report->as_text ? of_text : word);
	if (report->as_text)
		end_text(report);
}

void
report_flag(struct report *report, const char *key, bool value)
{
	add_word(report, key, value ? "true" : "false", value ? "yes" : "no");
}

void
report_null(struct report *report, const char *key)
{
	add_word(report, key, "null", "-");
}

static void
add_integer(struct report *report, const char *key, json_int_t value)
{
	begin_member(report, key, 0); /* `width` counts in text only, which has no such values */
	output_printf(&report->output, "%lld", (long long)value);
}

static void
add_object(struct report *report, const char *key, const json_t *object)
{
	const char *name;
	json_t *value;

	report_begin(report, key);
	json_object_foreach ((json_t *)(uintptr_t)object, name, value)
		report_json(report, name, value);
	report_end(report);
}

void
report_json(struct report *report, const char *key, const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT:
		add_object(report, key, value);
		break;
	case JSON_ARRAY:
		report_begin_list(report, key);
		for (size_t i = 0; i < json_array_size(value); i++)
			report_json(report, NULL, json_array_get(value, i));
		report_end(report);
		break;
	case JSON_STRING:
		report_bytes(report, key, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		add_integer(report, key, json_integer_value(value));
		break;
	case JSON_REAL:
		report_real(report, key, json_real_value(value));
		break;
	case JSON_NULL:
		report_null(report, key);
		break;
	default:
		report_flag(report, key, json_is_true(value));
	}
}

void
report_line(struct report *report, const char *format, ...)
{
	va_list arguments;
	char *text;

	if (!report->as_text)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		output_text(&report->output, text);
	else
		output_fail(&report->output);
	free(text);
}
