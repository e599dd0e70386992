/*
 * channel.h: one session with the collector of a store, at its local endpoint, for a program that has nothing else to
 * do meanwhile (import, rm). Where no collector serves the store, one is started, and has left when the channel is
 * closed.
 *
 * While a channel is open, SIGINT, SIGTERM and SIGHUP wait. Every call that fails ends the session: only
 * channel_remove() and channel_close() may follow. So does such a signal, but not once the end was sent.
 * Not thread-safe.
 */
#ifndef COLLECTOR_CHANNEL_H
#define COLLECTOR_CHANNEL_H

#include <portolan/wire.h>

struct channel;

/* `create`: make the store when there is none. */
int channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error);
/* After channel_end() or channel_remove() a collector that was started here first turns epochs into columns. Answers
 * the signal that came meanwhile, and is forgotten; 0: none. NULL accepted. */
int channel_close(struct channel *channel);

/* Begins the session that the `open` frame names, or goes on with it. *acknowledged: the last frame that the store has.
 */
int channel_begin(struct channel *channel, const struct wire_frame *open, uint64_t *acknowledged,
                  struct portolan_error *error);

/* Sends a frame of the session once there is credit for it. Its number is given here: the next one. */
int channel_send(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error);

/* Ends the session, with what its client told of itself; returns when everything is on disk. *last: what the collector
 * said of it then. */
int channel_end(struct channel *channel, const struct wire_counts *counts, struct wire_ack *last,
                struct portolan_error *error);

/* Removes a run; returns when that is on disk. STORE_E_NO_RUN. */
int channel_remove(struct channel *channel, const char *run, struct portolan_error *error);

/* A number for a new session. */
int channel_new_session(uint8_t session[WIRE_SESSION_SIZE], struct portolan_error *error);

#endif
