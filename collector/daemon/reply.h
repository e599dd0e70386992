/*
 * reply.h: what the collector says to its clients, and how much it lets them send.
 *
 * Credit is in bytes of frames not yet acknowledged: the lesser of INGEST_WINDOW_MAX and the session's share of what
 * the memory cap allows for credit (shares.h): each connection's share is the same, and is shared by its sessions.
 * While the store has failed it is 0; while the store is being tried again it is 1, which lets a client send one frame
 * at a time (WIRE.md).
 */
#ifndef COLLECTOR_REPLY_H
#define COLLECTOR_REPLY_H

#include "ingest.h"

uint64_t reply_credit(const struct ingest *ingest, const struct session *session);

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
