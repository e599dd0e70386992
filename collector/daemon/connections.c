/*
 * connections.c: counts how many sessions each connection of a client has, for the ledger (ledger.c) and for the table
 * of sessions (sessions.c); forgets a connection with its last session.
 */
#include "connections.h"

#include <stdlib.h>

int
connections_init(struct connections *connections)
{
	connections->count = 0;
	return table_init(&connections->table);
}

void
connections_deinit(struct connections *connections)
{
	table_deinit(&connections->table);
}

struct connection *
connections_find(const struct connections *connections, const struct peer *peer)
{
	return TABLE_ITEM(table_find(&connections->table, peer, peer_bytes(peer)), struct connection, node);
}

struct connection *
connections_enter(struct connections *connections, const struct peer *peer)
{
	struct connection *connection = peer->size ? connections_find(connections, peer) : NULL;

	if (peer->size && !connection && (connection = calloc(1, sizeof(*connection)))) {
		connection->peer = *peer;
		table_add(&connections->table, &connection->node, &connection->peer, peer_bytes(peer));
		connections->count++;
	}
	if (connection)
		connection->sessions++;
	return connection;
}

void
connections_leave(struct connections *connections, struct connection *connection)
{
	if (!connection || --connection->sessions > 0)
		return;
	table_remove(&connections->table, &connection->node);
	connections->count--;
	free(connection);
}
