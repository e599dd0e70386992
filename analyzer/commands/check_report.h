/* check_report.h: what `portolan check` prints. */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "check/completeness.h"
#include "output/output.h"

#include <jansson.h>

/* "complete", "incomplete" or "damaged". */
const char *check_verdict(const struct completeness *result);

void check_report_text(struct output *output, const struct completeness *result);
json_t *check_report_json(const struct completeness *result); /* a new reference; NULL: out of memory */

/* Of the store as a whole, after its runs. */
void check_report_store(struct output *output, const struct store_counters *counters);

/* The reader for which the store's file grows, if there is one; as JSON: null if not. */
void check_report_reader(struct output *output, const struct store_long_reader *reader);
json_t *check_reader_json(const struct store_long_reader *reader);

#endif
