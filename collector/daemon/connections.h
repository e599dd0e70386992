/*
 * connections.h: the connections that have sessions, as one thread knows them: credit and places are shared out by
 * connection, as these are counted and sessions cost nothing. Not thread-safe.
 */
#ifndef COLLECTOR_CONNECTIONS_H
#define COLLECTOR_CONNECTIONS_H

#include "arrival.h"
#include "table.h"

struct connection {
	struct table_node node;
	struct peer peer;
	size_t sessions;
	size_t live;   /* of these; the storer's */
	size_t queued; /* bytes that its frames take in the queue; the receiver's */
};

struct connections {
	struct table table;
	size_t count;
};

int connections_init(struct connections *connections); /* 0, or PORTOLAN_E_MEMORY */
void connections_deinit(struct connections *connections);

/* NULL: none has this peer. */
struct connection *connections_find(const struct connections *connections, const struct peer *peer);
/* One session more. NULL: the peer is not known, or out of memory. */
struct connection *connections_enter(struct connections *connections, const struct peer *peer);
/* One session less; with the last one the connection is freed. NULL accepted. */
void connections_leave(struct connections *connections, struct connection *connection);

#endif
