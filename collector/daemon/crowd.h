/*
 * crowd.h: whether there is a place for one session more. Used by admit.c. Not thread-safe.
 */
#ifndef COLLECTOR_CROWD_H
#define COLLECTOR_CROWD_H

#include "ingest.h"

/* No place for one session more of this peer. `known`: the session is in the table, and moves to this peer. */
bool crowd_is_full(const struct ingest *ingest, const struct peer *peer, bool known);
/* Counts one that was turned away, and says so now and then. */
void crowd_tell(struct ingest *ingest, int64_t now);

#endif
