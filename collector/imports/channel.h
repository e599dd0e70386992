/*
 * channel.h: one session with the collector of a store, at its local endpoint, for commands that only wait for it
 * (import, rm). If no collector serves the store, one is started; it has ended when the channel is closed.
 *
 * While a channel is open, the signals of interruption.h wait. A call that fails ends the session: only
 * channel_remove() and channel_close() may follow. So does one of these signals, unless the session's end was sent
 * already. Not thread-safe. For the main thread alone: the collector ends with the thread that started it.
 */
#ifndef COLLECTOR_CHANNEL_H
#define COLLECTOR_CHANNEL_H

#include <portolan/wire.h>

struct channel;

/* `create`: make the store when there is none. */
int channel_open(const char *store, bool create, struct channel **channel, struct portolan_error *error);
/* Closes the channel. After channel_end() or channel_remove(), a collector that was started here first folds its
 * epochs. Returns and clears the signal that came meanwhile; 0: none. NULL accepted. */
int channel_close(struct channel *channel);

/* Begins or continues the session of the `open` frame. *acknowledged: the last frame that the store has.
 */
int channel_begin(struct channel *channel, const struct wire_frame *open, uint64_t *acknowledged,
                  struct portolan_error *error);

/* Sends a frame of the session once there is credit for it, and gives it the next number. */
int channel_send(struct channel *channel, const struct wire_frame *frame, struct portolan_error *error);

/* Has the session go on when frames of texts are refused: `refused` is called with their numbers, before channel_end()
 * returns. False of it: the frame was no such one, and the refusal ends the session, as without this. */
void channel_tell_refused(struct channel *channel, bool (*refused)(void *context, uint64_t sequence), void *context);

/* Ends the session, with the client's counts; returns when everything is on disk. *last: the collector's last
 * answer. */
int channel_end(struct channel *channel, const struct wire_counts *counts, struct wire_ack *last,
                struct portolan_error *error);

/* Removes a run; returns when that is on disk. STORE_E_NO_RUN. */
int channel_remove(struct channel *channel, const char *run, struct portolan_error *error);

/* Random bytes for a new session. */
int channel_new_session(uint8_t session[WIRE_SESSION_SIZE], struct portolan_error *error);

#endif
