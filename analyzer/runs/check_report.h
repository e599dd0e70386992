/* check_report.h: the report of `portolan check`, as JSON or as text. */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "output/report.h"
#include "verdict/completeness.h"

/* An object, which the caller ends. */
void check_report_run(struct report *report, const struct completeness *result);

/* The reader for which the store's file grows, if there is one: "long_reader"; null if not. */
void check_report_reader(struct report *report, const struct store_long_reader *reader);

#endif
