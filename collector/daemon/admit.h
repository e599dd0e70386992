/*
 * admit.h: letting sessions in, and runs out. Used by ingest.c.
 */
#ifndef COLLECTOR_ADMIT_H
#define COLLECTOR_ADMIT_H

#include "ingest.h"

/* An `open`: goes on with the session, or begins it. Answered after the commit, or with an error at once. */
void admit_open(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, size_t size,
                int64_t now);

/* How many sessions there may be. Pure. */
size_t admit_most_sessions(size_t max_memory);

/* A session has ended, and its run comes to light if it was to be whole: whoever records into the run it replaces is
 * told. STORE_E_EXISTS: somebody else made a run of that name meanwhile. */
int admit_publish(struct ingest *ingest, const struct session *session, struct portolan_error *error);
/* The run of a session that did not get to its end is removed, and the session is REMOVED with it. */
int admit_drop(struct ingest *ingest, struct session *session, struct portolan_error *error);

/* Removes the run of this name; its live sessions get `run-removed`. Commits, then answers. */
void admit_remove(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, int64_t now);

/* At start-up: one run of the store with its `sessions` sessions. */
int admit_stored_run(struct ingest *ingest, uint32_t number, uint32_t sessions, int64_t now,
                     struct portolan_error *error);
/* At start-up: one that cannot be read, which takes nobody in; `what` is damaged. */
void admit_damaged_run(struct ingest *ingest, const char *name, uint32_t number, const char *what);

#endif
