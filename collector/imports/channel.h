/*
 * channel.h: one session with the ingest of a store, from a program that has nothing else to do meanwhile (import, rm).
 * Where a collector serves the store, frames go to its local endpoint; otherwise the store is locked and the ingest
 * runs in this process. Both ways obey the same rules of the wire.
 *
 * Every call that fails ends the session: only channel_remove() and channel_close() may follow. So does a signal that
 * interrupt.h makes wait, but not once the end was sent.
 * Not thread-safe.
 */
#ifndef COLLECTOR_CHANNEL_H
#define COLLECTOR_CHANNEL_H

#include <portolan/wire.h>

struct channel;

/* `create`: make the store when there is none. */
int channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error);
void channel_close(struct channel *channel); /* NULL accepted */

/* Begins the session; waits for the answer. open->started is filled here. */
int channel_begin(struct channel *channel, const struct wire_open *open, struct portolan_error *error);

/* Goes on with a session that exists elsewhere: open->session, open->open as it is. *acknowledged: what the store has.
 */
int channel_continue(struct channel *channel, const struct wire_frame *open, uint64_t *acknowledged,
                     struct portolan_error *error);

/* Sends the frame with this number, which must be the next one, of about `size` bytes. */
int channel_frame(struct channel *channel, const struct wire_frame *frame, uint64_t sequence, size_t size,
                  struct portolan_error *error);

/* Sends a batch, numbered here, once there is credit for it. */
int channel_batch(struct channel *channel, const struct wire_batch *batch, struct portolan_error *error);
int channel_end_epoch(struct channel *channel, uint32_t epoch, struct portolan_error *error);

struct channel_totals {
	uint64_t replaced, refused; /* observations, as the collector counts them */
};

/* Ends the session, with what its client told of itself; returns when everything is on disk. In this process it then also turns epochs into columns. */
int channel_end(struct channel *channel, const struct wire_counts *counts, struct channel_totals *totals,
                struct portolan_error *error);

/* Removes a run; returns when that is on disk. */
int channel_remove(struct channel *channel, const char *run, struct portolan_error *error);

#endif
