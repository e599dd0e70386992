/*
 * connections.c: a hash table. Routing ids may be chosen by the peers, so the hash is seeded.
 */
#include "connections.h"

#include <portolan/portolan.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BUCKETS 4096

int
connections_init(struct connections *connections, uint64_t seed)
{
	connections->seed = seed;
	connections->buckets = calloc(BUCKETS, sizeof(*connections->buckets));
	return connections->buckets ? 0 : PORTOLAN_E_MEMORY;
}

void
connections_deinit(struct connections *connections)
{
	for (size_t i = 0; connections->buckets && i < BUCKETS; i++) {
		while (connections->buckets[i]) {
			struct connection *connection = connections->buckets[i];

			connections->buckets[i] = connection->next;
			free(connection);
		}
	}
	free(connections->buckets);
	connections->buckets = NULL;
}

bool
peer_is_same(const struct peer *a, const struct peer *b)
{
	return a->socket == b->socket && a->size == b->size && memcmp(a->id, b->id, a->size) == 0;
}

static struct connection **
bucket_of(const struct connections *connections, const struct peer *peer)
{
	uint64_t hash = XXH3_64bits_withSeed(peer->id, peer->size, connections->seed + peer->socket);

	return &connections->buckets[hash % BUCKETS];
}

struct connection *
connections_find(const struct connections *connections, const struct peer *peer)
{
	struct connection *connection = *bucket_of(connections, peer);

	while (connection && !peer_is_same(&connection->peer, peer))
		connection = connection->next;
	return connection;
}

struct connection *
connections_enter(struct connections *connections, const struct peer *peer)
{
	struct connection *connection = connections_find(connections, peer), **bucket;

	if (!peer->size)
		return NULL;
	if (!connection) {
		connection = calloc(1, sizeof(*connection));
		if (!connection)
			return NULL;
		bucket = bucket_of(connections, peer);
		connection->peer = *peer;
		connection->next = *bucket;
		*bucket = connection;
	}
	connection->sessions++;
	return connection;
}

void
connections_leave(struct connections *connections, struct connection *connection)
{
	struct connection **link;

	if (!connection || --connection->sessions > 0)
		return;
	for (link = bucket_of(connections, &connection->peer); *link != connection; link = &(*link)->next)
		;
	*link = connection->next;
	free(connection);
}
