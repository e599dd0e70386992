/* report.c: reports as JSON; see report.h. */
#include "report.h"

#include "program/number.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *
report_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *
report_text(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();
	char *utf8 = string ? NULL : malloc(2 * strlen(text) + 1), *to = utf8;

	if (!utf8)
		return string;
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at >= 0x80)
			*to++ = (char)(0xc0 | *at >> 6);
		*to++ = (char)(*at >= 0x80 ? 0x80 | (*at & 0x3f) : *at);
	}
	*to = '\0';
	string = json_string(utf8);
	free(utf8);
	return string;
}

static void
begin_line(struct output *output, size_t indent, size_t level)
{
	if (indent == 0)
		return;
	output_bytes(output, "\n", 1);
	for (size_t i = 0; i < indent * level; i++)
		output_bytes(output, " ", 1);
}

/* With a point or an exponent: what was a real number stays one. */
static void
print_real(struct output *output, double value)
{
	char text[NUMBER_ROOM + 2];
	size_t length = number_print(value, text);

	if (!strpbrk(text, ".e"))
		memcpy(text + length, ".0", 3);
	output_text(output, text);
}

static void print_value(struct output *output, const json_t *value, size_t indent, size_t level);

static void
print_array(struct output *output, const json_t *array, size_t indent, size_t level)
{
	size_t count = json_array_size(array);

	output_bytes(output, "[", 1);
	for (size_t i = 0; i < count; i++) {
		output_bytes(output, ",", i > 0);
		begin_line(output, indent, level + 1);
		print_value(output, json_array_get(array, i), indent, level + 1);
	}
	if (count > 0)
		begin_line(output, indent, level);
	output_bytes(output, "]", 1);
}

static void
print_object(struct output *output, const json_t *object, size_t indent, size_t level)
{
	json_t *members = (json_t *)object; /* which jansson goes through without changing it */
	void *first = json_object_iter(members);

	output_bytes(output, "{", 1);
	for (void *at = first; at; at = json_object_iter_next(members, at)) {
		const char *key = json_object_iter_key(at);

		output_bytes(output, ",", at != first);
		begin_line(output, indent, level + 1);
		text_json(output, key, strlen(key));
		output_bytes(output, ": ", indent ? 2 : 1);
		print_value(output, json_object_iter_value(at), indent, level + 1);
	}
	if (first)
		begin_line(output, indent, level);
	output_bytes(output, "}", 1);
}

static void
print_value(struct output *output, const json_t *value, size_t indent, size_t level)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		print_object(output, value, indent, level);
		break;
	case JSON_ARRAY:
		print_array(output, value, indent, level);
		break;
	case JSON_STRING:
		text_json(output, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		output_printf(output, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		print_real(output, json_real_value(value));
		break;
	case JSON_TRUE:
		output_text(output, "true");
		break;
	case JSON_FALSE:
		output_text(output, "false");
		break;
	case JSON_NULL:
		output_text(output, "null");
		break;
	}
}

void
report_print(struct output *output, const json_t *report, size_t indent)
{
	if (report)
		print_value(output, report, indent, 0);
	else
		output_fail(output);
}

int
report_write(struct output *output, json_t *report)
{
	if (!report)
		return -1;
	report_print(output, report, 2);
	output_bytes(output, "\n", 1);
	json_decref(report);
	return 0;
}
