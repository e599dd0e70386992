/*
 * counters.h: writes into a report the counters of a run's recording, or of all runs: observations received, refused,
 * replaced, and so on. For `portolan check`, `watch` and `runs --json`. Text for people has only the counters that are
 * not 0.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "output/report.h"

#include <portolan/store.h>

void counters_report(struct report *report, const struct store_counters *counters);      /* "counters" */
void counters_report_clients(struct report *report, const struct store_client *clients); /* "clients" */

/* The least power of two, in microseconds, below which at least this share of the commits stayed; 0: there were no
 * commits. */
uint64_t counters_quantile(const struct store_latency *latency, double share);

#endif
