/*
 * receiver.h: takes the messages of clients for server.c: answers those that can be answered without the store, drops
 * frames beyond their session's credit, and says which the storer gets.
 */
#ifndef COLLECTOR_RECEIVER_H
#define COLLECTOR_RECEIVER_H

#include "exchange.h"
#include "ledger.h"
#include "sockets.h"
#include "throttle.h"

struct receiver {
	struct sockets *sockets;
	struct ledger *ledger;
	struct exchange *exchange;
	const char *keys; /* the directory of keys; NULL: none are asked for */
	wire_decoder *decoder;
	wire_encoder *encoder;
	bool leaving;       /* an `open` is neither answered nor handed over */
	int64_t busy_since; /* when the storer's round began; 0: it waits for arrivals */
	struct throttle malformed, dropped, removed, unread;
};

/* Takes a message. True: it is in the ledger, and the storer gets it; false: it is the caller's to free. */
bool receiver_take(struct receiver *receiver, struct arrival *arrival, int64_t now);

#endif
