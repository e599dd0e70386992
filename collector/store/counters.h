/*
 * counters.h: records of counters, and of the processes that sent them; private to the store, shared by both halves.
 */
#ifndef STORE_COUNTERS_H
#define STORE_COUNTERS_H

#include "catalog.h"

/* `part`: RUN_CLIENT or RUN_PROCESS. */
struct store_key store_key_session(uint32_t run, uint8_t part, uint32_t session);

/* Reads the `*count` numbers of a counter record, and sets the rest of `numbers` to 0; *count is 0 if the record is
 * absent. */
int store_counters_read(const struct view *view, const struct store_key *key, enum record_kind kind,
                        uint64_t numbers[COUNTERS_MOST], size_t *count, struct portolan_error *error);

/* Reads which process a session's client is; zeros if it was not told. */
int store_process_read(const struct view *view, uint32_t run, uint32_t session, struct process_record *record,
                       struct portolan_error *error);

#endif
