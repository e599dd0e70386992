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

/* Writes a report, each number with the fewest digits that read back as it; with `indent` blanks for each level, 0: in
 * one line. The caller's report stays, and may be NULL, which is an error of the output's: out of memory. */
void report_print(struct output *output, const json_t *report, size_t indent);

/* The same for stdout or a file: with a line end, and the report's reference is taken. −1: out of memory. Write errors
 * are the output's. */
int report_write(struct output *output, json_t *report);

#endif
