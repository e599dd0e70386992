/*
 * zap.h: who may connect: libzmq asks (ZeroMQ RFC 27) before a client with a CURVE key is let in.
 *
 * A key that is put on the list, or taken from it, is let in, or no longer, by whoever connects a second later
 * (allowed.h). Whatever goes wrong, the answer is no.
 *
 * Not thread-safe: it belongs to the event loop, which must come round for clients to get in.
 */
#ifndef COLLECTOR_ZAP_H
#define COLLECTOR_ZAP_H

#include "allowed.h"
#include "throttle.h"

#include <portolan/portolan.h>

#define ZAP_DOMAIN "portolan"

struct zap {
	void *socket; /* to be polled for ZMQ_POLLIN */
	char directory[4096];
	struct allowed allowed;
	uint64_t admitted;
	struct throttle refused;
};

/* Before any socket that asks is bound. `directory`: KEYS/clients; it must be there and its owner's alone to write. */
int zap_open(struct zap *zap, void *context, const char *directory, struct portolan_error *error);
void zap_close(struct zap *zap); /* twice does no harm */

/* Answers the questions that have come. */
void zap_answer(struct zap *zap, int64_t now);

#endif
