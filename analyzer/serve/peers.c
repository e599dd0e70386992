/*
 * peers.c: strangers (who have not shown the token yet) in the order in which they came. Any user of this machine can
 * open connections and say nothing, or one letter now and then: a timeout alone would not end that, and whoever comes
 * last is the likeliest to have something to say. Shutting a socket down has the thread that waits for it end.
 */
#include "peers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

struct peer {
	int socket;
	bool is_listed;             /* it is a stranger, and was not shut down */
	struct peer *older, *newer; /* strangers, if it is listed */
};

struct peers {
	pthread_mutex_t lock;
	size_t most, count; /* all but those shut down */
	struct peer *oldest, *newest;
};

struct peers *
peers_new(size_t most)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	if (!peers)
		return NULL;
	pthread_mutex_init(&peers->lock, NULL);
	peers->most = most;
	return peers;
}

void
peers_free(struct peers *peers)
{
	if (!peers)
		return;
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

static void
unlist(struct peers *peers, struct peer *peer)
{
	if (!peer->is_listed)
		return;
	*(peer->older ? &peer->older->newer : &peers->oldest) = peer->newer;
	*(peer->newer ? &peer->newer->older : &peers->newest) = peer->older;
	peer->is_listed = false;
}

static void
make_room(struct peers *peers)
{
	struct peer *oldest = peers->oldest;

	if (peers->count < peers->most || !oldest)
		return;
	unlist(peers, oldest);
	shutdown(oldest->socket, SHUT_RDWR);
	oldest->socket = -1;
	peers->count--;
}

struct peer *
peers_come(struct peers *peers, int socket)
{
	struct peer *peer = malloc(sizeof(*peer));

	if (!peer)
		return NULL;
	pthread_mutex_lock(&peers->lock);
	make_room(peers);
	*peer = (struct peer){.socket = socket, .is_listed = true, .older = peers->newest};
	*(peers->newest ? &peers->newest->newer : &peers->oldest) = peer;
	peers->newest = peer;
	peers->count++;
	pthread_mutex_unlock(&peers->lock);
	return peer;
}

void
peers_go(struct peers *peers, struct peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	unlist(peers, peer);
	peers->count -= peer->socket >= 0;
	pthread_mutex_unlock(&peers->lock);
	free(peer);
}

void
peers_trust(struct peers *peers, struct peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	unlist(peers, peer);
	pthread_mutex_unlock(&peers->lock);
}
