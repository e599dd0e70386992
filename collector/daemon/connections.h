/*
 * connections.h: counts how much each connection of a client has of what all share: sessions, and bytes in the queue.
 * The receiver's ledger and the storer's table of sessions have such a table of connections each. Credit and places are
 * shared out by connection, because the number of connections is bounded and anybody can make sessions. Not
 * thread-safe.
 */
#ifndef COLLECTOR_CONNECTIONS_H
#define COLLECTOR_CONNECTIONS_H

#include "arrival.h"
#include "table.h"

struct connection {
	struct table_node node;
	struct peer peer;
	size_t sessions;
	size_t live;   /* live sessions; used by the storer */
	size_t queued; /* bytes that its frames take in the queue; used by the receiver */
};

struct connections {
	struct table table;
	size_t count;
};

int connections_init(struct connections *connections); /* 0, or PORTOLAN_E_MEMORY */
void connections_deinit(struct connections *connections);

/* The connection of this peer; NULL: there is none. */
struct connection *connections_find(const struct connections *connections, const struct peer *peer);
/* Counts one session more. NULL: the peer is not known, or out of memory. */
struct connection *connections_enter(struct connections *connections, const struct peer *peer);
/* Counts one session less, and frees the connection with the last one. NULL accepted. */
void connections_leave(struct connections *connections, struct connection *connection);

#endif
