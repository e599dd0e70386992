/*
 * carrier.h: the two ways a channel's frames go. Private to channel.c and the carriers.
 */
#ifndef COLLECTOR_CARRIER_H
#define COLLECTOR_CARRIER_H

#include <portolan/wire.h>

/* Takes one answer; the frame is valid during the call. */
typedef void carrier_answer(void *context, const struct wire_frame *frame);

struct carrier {
	int (*send)(struct carrier *carrier, const struct wire_frame *frame, size_t *size,
	            struct portolan_error *error);
	/* Hands over the answers there are; waits for the first one for at most `timeout_ms`. */
	int (*receive)(struct carrier *carrier, int timeout_ms, struct portolan_error *error);
	/* After the session's end: work that is the store's, not the session's. */
	int (*settle)(struct carrier *carrier, struct portolan_error *error);
	void (*free)(struct carrier *carrier);
	carrier_answer *answer;
	void *context;
};

/* STORE_E_LOCKED: a collector serves it (or another import works on it). */
int carrier_local_new(const char *store, struct carrier **carrier, struct portolan_error *error);
int carrier_remote_new(const char *store, struct carrier **carrier, struct portolan_error *error);

#endif
