/*
 * peers.c: keeps strangers' connections from filling the live page's HTTP daemon: when a new connection needs room, the
 * oldest one that has not shown the token is closed.
 *
 * Any user of this machine can open connections and send nothing, or a byte now and then; a timeout alone would not
 * stop that. The newest connection stays, as it is the most likely to send a request. Shutting down a connection's
 * socket ends the thread that waits for it. After each that is closed, the thread that takes connections pauses. So
 * however fast strangers connect, a new connection has `most` pauses' time to show the token, and the threads of those
 * that were closed have time to end: above its own limit, the daemon would refuse whoever comes next.
 */
#include "peers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define PAUSE_NS 500000

struct peer {
	int socket;
	bool is_trusted, is_shut; /* is_trusted: has shown the token */
	struct peer *older, *newer;
};

struct peers {
	pthread_mutex_t lock;
	pthread_cond_t gone; /* signalled when a connection has gone */
	size_t most, count;  /* count: connections that were not shut down; most: as in peers_new() */
	bool at_end;         /* peers_end() has begun: a new connection is shut down at once */
	struct peer *oldest, *newest;
};

struct peers *
peers_new(size_t most)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	if (!peers)
		return NULL;
	pthread_mutex_init(&peers->lock, NULL);
	pthread_cond_init(&peers->gone, NULL);
	peers->most = most;
	return peers;
}

void
peers_free(struct peers *peers)
{
	if (!peers)
		return;
	pthread_cond_destroy(&peers->gone);
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

static void
peers_shut(struct peers *peers, struct peer *peer)
{
	if (peer->is_shut)
		return;
	shutdown(peer->socket, SHUT_RDWR);
	peer->is_shut = true;
	peers->count--;
}

/* If a new connection needs room, closes the oldest one that has not shown the token. True: one was closed. */
static bool
peers_make_room(struct peers *peers)
{
	struct peer *peer = peers->oldest;

	if (peers->count < peers->most)
		return false;
	while (peer && (peer->is_trusted || peer->is_shut))
		peer = peer->newer;
	if (peer)
		peers_shut(peers, peer);
	return peer;
}

struct peer *
peers_come(struct peers *peers, int socket)
{
	struct peer *peer = malloc(sizeof(*peer));
	bool closed;

	if (!peer)
		return NULL;
	pthread_mutex_lock(&peers->lock);
	closed = peers_make_room(peers);
	*peer = (struct peer){.socket = socket, .older = peers->newest};
	*(peers->newest ? &peers->newest->newer : &peers->oldest) = peer;
	peers->newest = peer;
	peers->count++;
	if (peers->at_end)
		peers_shut(peers, peer);
	pthread_mutex_unlock(&peers->lock);
	if (closed)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	return peer;
}

void
peers_go(struct peers *peers, struct peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	*(peer->older ? &peer->older->newer : &peers->oldest) = peer->newer;
	*(peer->newer ? &peer->newer->older : &peers->newest) = peer->older;
	peers->count -= !peer->is_shut;
	pthread_cond_signal(&peers->gone);
	pthread_mutex_unlock(&peers->lock);
	free(peer);
}

void
peers_trust(struct peers *peers, struct peer *peer)
{
	if (!peer)
		return;
	pthread_mutex_lock(&peers->lock);
	peer->is_trusted = true;
	pthread_mutex_unlock(&peers->lock);
}

void
peers_end(struct peers *peers)
{
	pthread_mutex_lock(&peers->lock);
	peers->at_end = true;
	for (struct peer *peer = peers->oldest; peer; peer = peer->newer)
		peers_shut(peers, peer);
	while (peers->oldest)
		pthread_cond_wait(&peers->gone, &peers->lock);
	pthread_mutex_unlock(&peers->lock);
}
