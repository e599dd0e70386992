/* report.c: reports as JSON; see report.h. */
#include "report.h"

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

int
report_write(struct output *output, json_t *report)
{
	char *text = report ? json_dumps(report, JSON_INDENT(2)) : NULL;

	json_decref(report);
	if (!text)
		return -1;
	output_text(output, text);
	output_bytes(output, "\n", 1);
	free(text);
	return 0;
}

int
report_print(const char *path, json_t *report, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0) {
		json_decref(report);
		return code;
	}
	if (report_write(&output, report) < 0)
		output_fail(&output);
	return output_finish(&output, error);
}
