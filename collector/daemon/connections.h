/*
 * connections.h: which sessions share a connection. What a stranger can have for nothing, connections are counted for
 * (guard.h), sessions are not; so places in the table and credit are shared out by connection.
 *
 * A connection is here while a session in the table was last heard of through it. Not thread-safe.
 */
#ifndef COLLECTOR_CONNECTIONS_H
#define COLLECTOR_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where replies go: a socket of the server, and the routing id of one connection to it. */
struct peer {
	uint32_t socket;
	uint32_t size; /* 0: not known (a session taken over from an earlier collector) */
	uint8_t id[256];
};

struct connection {
	struct peer peer;
	size_t sessions, live; /* in the table; of these, live */
	struct connection *next;
};

struct connections {
	struct connection **buckets;
	uint64_t seed;
};

bool peer_is_same(const struct peer *a, const struct peer *b);

int connections_init(struct connections *connections, uint64_t seed); /* 0, or PORTOLAN_E_MEMORY */
void connections_deinit(struct connections *connections);

/* NULL: no session has this peer. */
struct connection *connections_find(const struct connections *connections, const struct peer *peer);
/* One session more. NULL: the peer is not known, or out of memory. */
struct connection *connections_enter(struct connections *connections, const struct peer *peer);
/* One session less, not live; `connection` may be gone then. NULL accepted. */
void connections_leave(struct connections *connections, struct connection *connection);

#endif
