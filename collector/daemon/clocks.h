/*
 * clocks.h: when a session began, as the store is told. Used by admit.c. Not thread-safe.
 */
#ifndef COLLECTOR_CLOCKS_H
#define COLLECTOR_CLOCKS_H

#include "ingest.h"

/* What the client says, in ns since 1970; but now, if its clock is ahead: its session would win for as long. */
uint64_t clocks_started(struct ingest *ingest, const struct wire_open *open, const char *name, int64_t now);

/* One that resumes comes after all the others of its run, by this clock if not by its own: *started is put after
 * theirs. 0, or a code of the store. */
int clocks_place(struct ingest *ingest, const struct wire_open *open, const char *name, uint32_t number, int64_t now,
                 uint64_t *started, struct portolan_error *error);

#endif
