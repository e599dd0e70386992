/*
 * count.h: the counters of ingest: what came, and how long it took to be on disk. Used by the parts of ingest.
 */
#ifndef COLLECTOR_COUNT_H
#define COLLECTOR_COUNT_H

#include "ingest.h"

/* Takes what a client tells of itself, if it does, and notes that it has closed. */
void count_client(struct session *session, const struct wire_counts *counts);
void count_close(struct session *session);

/* Before a commit that has something to write: puts the counters of every run it concerns, and the store's. */
int count_store(struct ingest *ingest, struct portolan_error *error);
/* After it has succeeded, while ingest->sessions.changed still lists the sessions. */
void count_commit(struct ingest *ingest, uint64_t microseconds);

#endif
