/*
 * parts.h: what the parts of ingest (admit.c, commit.c, ingest.c, reply.c, retire.c, take_over.c) have of each other.
 *
 * Credit is in bytes of frames not yet acknowledged: the lesser of INGEST_WINDOW_MAX and the session's share of what
 * the memory cap allows for credit (shares.h): each connection's share is the same, and is shared by its sessions.
 * While the store has failed it is 0; while the store is being tried again it is 1, which lets a client send one frame
 * at a time (WIRE.md).
 */
#ifndef COLLECTOR_PARTS_H
#define COLLECTOR_PARTS_H

#include "ingest.h"

#include <string.h>

static inline struct store_text
text_of(struct wire_bytes bytes)
{
	return (struct store_text){(const char *)bytes.data, bytes.size};
}

static inline void
copy_name(char name[256], struct wire_bytes bytes)
{
	size_t size = bytes.size < 255 ? bytes.size : 255;

	memcpy(name, bytes.data, size);
	name[size] = '\0';
}

/* admit.c: letting sessions in. */

/* An `open`: goes on with the session, or begins it. Answered after the commit, or with an error at once. */
void admit_open(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, size_t size,
                int64_t now);

/* retire.c: the end of runs. */

/* Ends the sessions that record into runs of this name; but not into the run of number `except`, nor into one that has
 * no name yet. */
void retire_named(struct ingest *ingest, const char *name, uint32_t except);
/* A session has ended, and its run comes to light if it was to be whole: whoever records into the run it replaces is
 * told. STORE_E_EXISTS: somebody else made a run of that name meanwhile. */
int retire_replaced(struct ingest *ingest, const struct session *session, struct portolan_error *error);
/* The run of a session that did not get to its end is removed, and the session is REMOVED with it. */
int retire_unfinished(struct ingest *ingest, struct session *session, struct portolan_error *error);
/* Removes the run of this name; its live sessions get `run-removed`. Commits, then answers. */
void retire_removed(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, int64_t now);

/* take_over.c: from the store into the table. */

/* Brings a session of the store in, live. */
int take_over_session(struct ingest *ingest, uint32_t number, uint32_t session_number, const char *name, int64_t now,
                      struct session **session, struct portolan_error *error);
/* At start-up: the runs of the store with their live sessions. Those that cannot be read take nobody in. */
int take_over_runs(struct ingest *ingest, struct portolan_error *error);

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
