/* counters.h: writes counters of the store into a report, of a run or of all; in text only those that counted
 * anything. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "output/report.h"

#include <portolan/store.h>

void counters_report(struct report *report, const struct store_counters *counters);      /* "counters" */
void counters_report_clients(struct report *report, const struct store_client *clients); /* "clients" */

/* The least power of two (microseconds) that at least this share of the commits stayed below; 0: there were none. */
uint64_t counters_quantile(const struct store_latency *latency, double share);

#endif
