/*
 * admission.h: who may connect. libzmq asks (ZeroMQ RFC 27) before a connection may carry messages, whatever its
 * mechanism. A connection beyond those that --max-memory (shares.h) and the system's limit of descriptors allow gets
 * status 500; one whose key is not on the list of an endpoint with keys gets 400. Both are told of in the log. Whatever
 * goes wrong, the answer is no.
 *
 * Not thread-safe: it belongs to the receiver, which must come round for clients to get in.
 */
#ifndef COLLECTOR_ADMISSION_H
#define COLLECTOR_ADMISSION_H

#include "allow_list.h"
#include "throttle.h"

#include <stdbool.h>
#include <stddef.h>

#define ADMISSION_HANDSHAKE_MS 5000 /* ZMQ_HANDSHAKE_IVL: by then a connection is admitted, or closed */
#define DESCRIPTORS_RESERVED 96     /* for the store, its files, and whatever else is no connection */
#define ADMISSION_SOCKETS 3         /* the routers; number 0 is the store's own, which strangers do not reach */

struct admission {
	void *handler;                         /* to be polled for ZMQ_POLLIN, */
	void *monitors[ADMISSION_SOCKETS];     /* … and these too; NULL: none */
	int64_t *connected[ADMISSION_SOCKETS]; /* for each descriptor: since when; 0: it is no connection of this socket
	                                        */
	int64_t *answered[ADMISSION_SOCKETS];  /* when the last `most` of them were admitted; a ring */
	size_t descriptors, count[ADMISSION_SOCKETS], at[ADMISSION_SOCKETS];
	size_t most;
	const char *bound; /* who allows no more than `most` */
	struct allow_list list;
	char directory[4096];
	struct throttle refused, crowded, broken, endless, surplus;
};

/* Before any router is bound. `list`: DIRECTORY/clients, for the endpoints with keys; NULL: none have any. */
int admission_open(struct admission *admission, void *context, size_t max_memory, const char *list,
                   struct portolan_error *error);
/* Makes the router ask, and watches it; before it is bound. `keyed`: it takes keys of the list. */
int admission_watch(struct admission *admission, void *context, void *router, unsigned number, bool keyed,
                    struct portolan_error *error);
/* After the routers are unbound, before they are closed. */
void admission_close(struct admission *admission, void *const routers[ADMISSION_SOCKETS]);

/* Takes the events and answers the questions that have come. */
void admission_answer(struct admission *admission, int64_t now);

#endif
