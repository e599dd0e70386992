/* report.h: what commands print with --json. */
#ifndef REPORT_H
#define REPORT_H

#include "output.h"

#include <jansson.h>

/* A new reference: the number, or null where it is not finite (JSON has no NaN). NULL: out of memory. */
json_t *report_number(double value);

/* A new reference: the text, or null for NULL. For every text of the user's that is not known to be UTF-8, which JSON
 * is: paths, names of fields, what files hold. One that is not UTF-8 is taken for Latin-1, from which its bytes can be
 * had again. NULL: out of memory. */
json_t *report_text(const char *text);

/* Writes a report and a line end, each number with the fewest digits that read back as it; with `indent` blanks for
 * each level, 0: in one line. Takes the report's reference. NULL is an error of the output's: out of memory. */
void report_write(struct output *output, json_t *report, size_t indent);

/* The same for a file, or standard output for NULL. */
int report_print(const char *path, json_t *report, size_t indent, struct portolan_error *error);

#endif
