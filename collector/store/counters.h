/*
 * counters.h: records of counters; private to the store, shared by both halves.
 */
#ifndef STORE_COUNTERS_H
#define STORE_COUNTERS_H

#include "catalog.h"

struct store_key store_key_client(uint32_t run, uint32_t session);

/* The numbers of a counter record, `*count` of them, the rest of `numbers` 0; none if the record is absent. */
int store_counters_read(const struct view *view, const struct store_key *key, enum record_kind kind,
                        uint64_t numbers[COUNTERS_MOST], size_t *count, struct portolan_error *error);

#endif
