/*
 * sockets.h: the collector's sockets: one for the store's local endpoint, which is its owner's alone; one for tcp
 * endpoints with keys; one for everything else it listens on.
 *
 * Nothing here waits but sockets_wait(): a peer that does not read loses its replies, and asks again.
 * Not thread-safe: it belongs to the event loop. Fork before, not after.
 */
#ifndef COLLECTOR_SOCKETS_H
#define COLLECTOR_SOCKETS_H

#include "address.h"
#include "guard.h"
#include "sessions.h"

enum { SOCKETS_LOCAL, SOCKETS_PLAIN, SOCKETS_KEYED, SOCKETS_COUNT };

struct sockets;

/* `keys`: a directory (keys.h), and then clients that connect to a tcp endpoint must have a key that is listed in
 * keys/clients; NULL: no keys. `max_memory` bounds what peers can make the process hold (guard.h). Socket files need
 * none, their permissions say who may connect. */
int sockets_open(struct sockets **sockets, const char *keys, size_t max_memory, struct portolan_error *error);

/* Flushes replies for at most a second, closes, frees. NULL accepted. */
void sockets_close(struct sockets *sockets);

/* Binds; `bound` (of `size` bytes) gets the endpoint with its real port. Socket files are made for their owner only. */
int sockets_bind(struct sockets *sockets, const struct address *address, bool local, char *bound, size_t size,
                 struct portolan_error *error);

/* Takes no new connections from now on; those there are stay. */
void sockets_unbind(struct sockets *sockets);

/* Waits until something can be received, `fd` can be read, or `timeout_ms` have passed. Lets clients in meanwhile. */
int sockets_wait(struct sockets *sockets, int fd, int timeout_ms, int64_t now, bool *fd_ready,
                 struct portolan_error *error);

struct sockets_message {
	struct peer peer;
	const void *data; /* valid until the next call of sockets_receive(); NULL: not a message of one part */
	size_t size;
	int connection; /* for the guard */
};

/* Takes one message if there is one; both sockets get their turn. */
bool sockets_receive(struct sockets *sockets, struct sockets_message *message);

/* What the message that was received last turned out to be: a peer that sends nothing of use is hung up on. */
void sockets_judge(struct sockets *sockets, const struct sockets_message *message, enum guard_verdict verdict);

/* Where the message that was received last came from, for the log; valid until the next call of sockets_receive(). */
const char *sockets_address(struct sockets *sockets);

/* false: not delivered, because the peer has gone or does not read. */
bool sockets_send(struct sockets *sockets, const struct peer *peer, const void *data, size_t size);

#endif
