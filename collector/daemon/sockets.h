/*
 * sockets.h: the collector's sockets: one for the store's local endpoint, which is its owner's alone; one for tcp
 * endpoints with keys; one for everything else it listens on.
 *
 * Nothing here waits but sockets_wait(): a peer that does not read loses its replies, and asks again.
 * Not thread-safe: it belongs to the receiver. Fork before, not after.
 */
#ifndef COLLECTOR_SOCKETS_H
#define COLLECTOR_SOCKETS_H

#include "address.h"
#include "arrival.h"

enum { SOCKETS_LOCAL, SOCKETS_PLAIN, SOCKETS_KEYED, SOCKETS_COUNT };

struct sockets;

/* `keys`: a directory (keys.h), and then clients that connect to a tcp endpoint must have a key that is listed in
 * keys/clients; NULL: no keys. `max_memory` bounds the connections (shares.h). Socket files need no keys, their
 * permissions say who may connect. */
int sockets_open(struct sockets **sockets, const char *keys, size_t max_memory, struct portolan_error *error);

/* Flushes replies for at most a second, closes, frees. NULL accepted. */
void sockets_close(struct sockets *sockets);

/* Binds; `bound` (of `size` bytes) gets the endpoint with its real port. Socket files are made for their owner only. */
int sockets_bind(struct sockets *sockets, const struct address *address, bool local, char *bound, size_t size,
                 struct portolan_error *error);

/* Takes no new connections from now on; those there are stay. */
void sockets_unbind(struct sockets *sockets);

#define SOCKETS_FDS 2

/* Waits until something can be received, one of `fds` can be read, or `timeout_ms` have passed. Lets clients in
 * meanwhile. */
int sockets_wait(struct sockets *sockets, const int fds[SOCKETS_FDS], int timeout_ms, struct portolan_error *error);

/* Takes one message if there is one (else NULL); every socket gets its turn. The caller frees it; its head is not read
 * yet. */
struct arrival *sockets_receive(struct sockets *sockets);

/* false: not delivered, because the peer has gone or does not read. */
bool sockets_send(struct sockets *sockets, const struct peer *peer, const void *data, size_t size);

#endif
