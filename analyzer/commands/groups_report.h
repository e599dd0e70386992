/* groups_report.h: what portolan groups prints. */
#ifndef GROUPS_REPORT_H
#define GROUPS_REPORT_H

#include "dynamics/dynamics.h"
#include "groups/forgetting.h"
#include "groups/summary.h"
#include "output/output.h"

#include <jansson.h>

void groups_report_csv(struct output *output, const struct dynamics *dynamics, const struct summary_row *rows,
                       size_t count);
void groups_report_histogram_csv(struct output *output, const struct forgetting *forgetting);

/* New references; NULL: out of memory. */
json_t *groups_report_json(const struct dynamics *dynamics, const struct summary_row *rows, size_t count);
json_t *groups_report_histogram_json(const struct dynamics *dynamics, const struct forgetting *forgetting);

#endif
