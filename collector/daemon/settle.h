/*
 * settle.h: what happens when a transaction ends, well or badly. Used by the parts of ingest.
 */
#ifndef COLLECTOR_SETTLE_H
#define COLLECTOR_SETTLE_H

#include "ingest.h"

/* Codes after which the pending transaction is lost (see store/write.h); others concern one call only. */
bool settle_is_fatal(int code);

/*
 * The store has failed: takes back everything since the last commit, withdraws all credit, tells the clients concerned
 * to keep and repeat what they sent, and says so once per outage. Tried again after INGEST_RETRY_MS.
 * Sessions that the pending transaction created are gone afterwards.
 */
void settle_failure(struct ingest *ingest, const struct portolan_error *error, int64_t now);

/*
 * The same for what one run is concerned with: if its records turn out to be damaged (STORE_E_CORRUPT), or gone
 * (STORE_E_NO_RUN), that is the end of recording into this run, and no more. `wrote`: the call that failed had begun to
 * write, so that the transaction has to go, once; its frames are asked for again. `run` NULL: not known.
 */
void settle_trouble(struct ingest *ingest, struct run *run, bool wrote, const struct portolan_error *error,
                    int64_t now);

/* Ends a session in the store and in memory (CLOSED or GONE), and its run with the last one. Fails with fatal codes. */
int settle_end_session(struct ingest *ingest, struct session *session, enum session_state state,
                       struct portolan_error *error);

#endif
