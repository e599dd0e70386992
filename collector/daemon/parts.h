/*
 * parts.h: what the parts of ingest (admit.c, commit.c, ingest.c, reply.c) have of each other.
 *
 * Credit is in bytes of frames not yet acknowledged: the lesser of INGEST_WINDOW_MAX and the session's share of what
 * the memory cap allows for credit (shares.h): each connection's share is the same, and is shared by its sessions.
 * While the store has failed it is 0; while the store is being tried again it is 1, which lets a client send one frame
 * at a time (WIRE.md).
 */
#ifndef COLLECTOR_PARTS_H
#define COLLECTOR_PARTS_H

#include "ingest.h"

/* admit.c: letting sessions in, and runs out. */

/* An `open`: goes on with the session, or begins it. Answered after the commit, or with an error at once. */
void admit_open(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, size_t size,
                int64_t now);
/* A session has ended, and its run comes to light if it was to be whole: whoever records into the run it replaces is
 * told. STORE_E_EXISTS: somebody else made a run of that name meanwhile. */
int admit_publish(struct ingest *ingest, const struct session *session, struct portolan_error *error);
/* The run of a session that did not get to its end is removed, and the session is REMOVED with it. */
int admit_drop(struct ingest *ingest, struct session *session, struct portolan_error *error);
/* Removes the run of this name; its live sessions get `run-removed`. Commits, then answers. */
void admit_remove(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, int64_t now);
/* At start-up: the runs of the store with their live sessions. Those that cannot be read take nobody in. */
int admit_stored_runs(struct ingest *ingest, struct portolan_error *error);

/* commit.c: the end of a transaction, well or badly. */

/* Codes after which the pending transaction is lost (see store/write.h); others concern one call only. */
bool commit_is_lost(int code);
/* The store has failed: takes back everything since the last commit, withdraws all credit, tells the clients concerned
 * to keep and repeat what they sent, and says so once per outage. Tried again after INGEST_RETRY_MS.
 * Sessions that the pending transaction created are gone afterwards. */
void commit_failed(struct ingest *ingest, const struct portolan_error *error, int64_t now);
/* The same for what one run is concerned with: if its records turn out to be damaged (STORE_E_CORRUPT), or gone
 * (STORE_E_NO_RUN), that is the end of recording into this run, and no more. `wrote`: the call that failed had begun to
 * write, so that the transaction has to go, once; its frames are asked for again. `run` NULL: not known. */
void commit_failed_for(struct ingest *ingest, struct run *run, bool wrote, const struct portolan_error *error,
                       int64_t now);
/* Ends a session in the store and in memory (CLOSED or GONE), and its run with the last one. Fails with lost codes. */
int commit_end_of(struct ingest *ingest, struct session *session, enum session_state state,
                  struct portolan_error *error);
/* An error that is sent after the commit, and before the ack; not if the commit fails. PORTOLAN_E_MEMORY. */
int commit_then_complain(struct ingest *ingest, struct session *session, enum wire_error_code code, uint64_t sequence,
                         struct portolan_error *message);
void commit_forget_complaints(struct ingest *ingest);

/* reply.c: what is said to clients. */

void reply_ack(struct ingest *ingest, const struct session *session);
void reply_opened(struct ingest *ingest, const struct session *session, enum store_id_kind id_kind);
/* An ack to every live session: its credit has changed. */
void reply_ack_all(struct ingest *ingest);
/* Why the session is in state SESSION_REMOVED. */
void reply_removed(struct ingest *ingest, const struct peer *peer, const struct session *session);
__attribute__((format(printf, 6, 7))) void reply_error(struct ingest *ingest, const struct peer *peer,
                                                       const uint8_t session[WIRE_SESSION_SIZE],
                                                       enum wire_error_code code, uint64_t sequence, const char *format,
                                                       ...);

#endif
