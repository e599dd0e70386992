/* report.h: what commands print with --json. */
#ifndef REPORT_H
#define REPORT_H

#include "output.h"

#include <jansson.h>

/* A new reference: the number, or null where it is not finite (JSON has no NaN). NULL: out of memory. */
json_t *report_number(double value);

/* A new reference: the text, or null for NULL. JSON is UTF-8, which a user's path or CSV file need not be: a text that
 * is not is taken for Latin-1. NULL: out of memory. */
json_t *report_text(const char *text);

/* Writes the report, indented, and takes its reference. −1: out of memory, which a NULL report is as well. Write errors
 * are the output's. */
int report_write(struct output *output, json_t *report);

/* Writes it to the file, or standard output for NULL, and takes its reference. */
int report_print(const char *path, json_t *report, struct portolan_error *error);

#endif
