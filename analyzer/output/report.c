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
print_members(struct output *output, const json_t *value, size_t indent, size_t level)
{
	json_t *object = json_is_object(value) ? (json_t *)value : NULL; /* whose iterators do not change it */
	size_t count = object ? json_object_size(object) : json_array_size(value);
	void *at = json_object_iter(object);

	output_text(output, object ? "{" : "[");
	for (size_t i = 0; i < count; i++) {
		output_text(output, i > 0 ? "," : "");
		begin_line(output, indent, level + 1);
		if (object) {
			text_json(output, json_object_iter_key(at), strlen(json_object_iter_key(at)));
			output_text(output, indent ? ": " : ":");
		}
		print_value(output, object ? json_object_iter_value(at) : json_array_get(value, i), indent, level + 1);
		at = object ? json_object_iter_next(object, at) : NULL;
	}
	if (count > 0)
		begin_line(output, indent, level);
	output_text(output, object ? "}" : "]");
}

static void
print_value(struct output *output, const json_t *value, size_t indent, size_t level)
{
	if (json_is_object(value) || json_is_array(value)) {
		print_members(output, value, indent, level);
	} else if (json_is_real(value)) {
		print_real(output, json_real_value(value));
	} else {
		char *text = json_dumps(value, JSON_ENCODE_ANY);

		if (text)
			output_text(output, text);
		else
			output_fail(output);
		free(text);
	}
}

void
report_write(struct output *output, json_t *report, size_t indent)
{
	if (report)
		print_value(output, report, indent, 0);
	else
		output_fail(output);
	output_bytes(output, "\n", 1);
	json_decref(report);
}

int
report_print(const char *path, json_t *report, size_t indent, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0) {
		json_decref(report);
		return code;
	}
	report_write(&output, report, indent);
	return output_finish(&output, error);
}
