/* counters.h: counters of the store as JSON and as text. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <portolan/store.h>

#include <jansson.h>

/* New references; NULL: out of memory. */
json_t *counters_json(const struct store_counters *counters);
json_t *counters_client_json(const struct store_client *client);

/* The least power of two (microseconds) that at least this share of the commits stayed below; 0: there were none. */
uint64_t counters_quantile(const struct store_latency *latency, double share);

#endif
