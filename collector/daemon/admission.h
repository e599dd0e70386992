/*
 * admission.h: decides which connections of clients the collector admits: not more than it has memory and descriptors
 * for, and with keys none but those whose key is listed. libzmq asks (ZeroMQ RFC 27) before a connection may carry
 * messages, whatever its mechanism. A connection beyond the number that --max-memory (shares.h) and the system's limit
 * of descriptors allow gets status 500. A connection to an endpoint with keys whose key is not on the list gets 400.
 * The log mentions both. If anything goes wrong, the answer is no.
 *
 * Not thread-safe: it belongs to the receiver. Clients can connect only while the receiver's rounds go on.
 */
#ifndef COLLECTOR_ADMISSION_H
#define COLLECTOR_ADMISSION_H

#include "allow_list.h"
#include "throttle.h"

#include <stdbool.h>
#include <stddef.h>

#define ADMISSION_HANDSHAKE_MS 5000    /* ZMQ_HANDSHAKE_IVL: by then a connection is admitted, or closed */
#define DESCRIPTORS_RESERVED 96        /* for the store, its files, and other descriptors that are no connections */
#define ADMISSION_KEY "X-Portolan-Key" /* property of a connection and its messages: its public key, if it has one */
#define ADMISSION_SOCKETS 3            /* the routers; number 0 is the store's own, which strangers do not reach */

struct admission {
	void *handler;                     /* poll it for ZMQ_POLLIN */
	void *monitors[ADMISSION_SOCKETS]; /* poll these too; NULL: none */
	/* by descriptor: when it was accepted; 0: no connection of this socket has it */
	int64_t *connected[ADMISSION_SOCKETS];
	int64_t *answered[ADMISSION_SOCKETS]; /* when the last `most` connections were admitted; a ring */
	size_t descriptors, count[ADMISSION_SOCKETS], at[ADMISSION_SOCKETS];
	size_t most;
	const char *bound; /* the limit that `most` comes from */
	struct allow_list list;
	char directory[4096];
	struct throttle refused, crowded, broken, endless, surplus;
};

/* Call before any router is bound. `list`: DIRECTORY/clients, for endpoints with keys; NULL: no endpoint has keys. */
int admission_open(struct admission *admission, void *context, size_t max_memory, const char *list,
                   struct portolan_error *error);
/* Makes libzmq ask about the router's connections, and watches these; call before the router is bound. `keyed`: its
 * clients need a key of the list. */
int admission_watch(struct admission *admission, void *context, void *router, unsigned number, bool keyed,
                    struct portolan_error *error);
/* Call after the routers are unbound and before they are closed. */
void admission_close(struct admission *admission, void *const routers[ADMISSION_SOCKETS]);

/* Reads the events and answers the questions that have come. */
void admission_answer(struct admission *admission, int64_t now);

#endif
