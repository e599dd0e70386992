/* report.c: reports as JSON; see report.h. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

json_t *
report_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
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
