/*
 * sockets.h: the collector's sockets: one for socket files, the store's own among them, which only their owner can use;
 * one for tcp endpoints with keys; one for plain tcp endpoints, which every user of the machine can use.
 *
 * Only sockets_wait() waits: a peer that does not read loses its replies, and asks again. Not thread-safe: it belongs
 * to the receiver. Fork before sockets_open(), not after.
 */
#ifndef COLLECTOR_SOCKETS_H
#define COLLECTOR_SOCKETS_H

#include "address.h"
#include "arrival.h"

enum { SOCKETS_LOCAL, SOCKETS_PLAIN, SOCKETS_KEYED, SOCKETS_COUNT };

struct sockets;

/* `keys`: a directory (keys.h): clients that connect to a tcp endpoint must have a key that is listed in its clients/;
 * NULL: no keys. `max_memory` bounds the connections (shares.h). Socket files need no keys: their permissions decide
 * who may connect. */
int sockets_open(struct sockets **sockets, const char *keys, size_t max_memory, struct portolan_error *error);

/* Flushes replies for at most a second, closes, frees. NULL accepted. */
void sockets_close(struct sockets *sockets);

/* Binds; `bound` (of `size` bytes) gets the endpoint with its real port. Socket files are made for their owner only. */
int sockets_bind(struct sockets *sockets, const struct address *address, char *bound, size_t size,
                 struct portolan_error *error);

/* Takes no new connections from now on; existing ones stay. */
void sockets_unbind(struct sockets *sockets);

#define SOCKETS_FDS 2

/* Waits until a message can be received, one of `fds` can be read, or `timeout_ms` have passed. Admits clients
 * meanwhile. */
int sockets_wait(struct sockets *sockets, const int fds[SOCKETS_FDS], int timeout_ms, struct portolan_error *error);

/* Takes one message, or NULL if there is none; the sockets take turns. The caller frees it; its head is not decoded
 * yet. *missed is set if a message was lost for lack of memory. */
struct arrival *sockets_receive(struct sockets *sockets, bool *missed);

/* May the sender open a session now, or remove a run? Its key may have been taken off the list since it connected. */
enum sockets_standing {
	SOCKETS_MAY,     /* within arrival->limits, which this sets */
	SOCKETS_MAY_NOT, /* its key is no longer let in */
	SOCKETS_LATER,   /* the list, or a file of it that may hold the key, cannot be read; or memory is out */
};
enum sockets_standing sockets_find_limits(struct sockets *sockets, struct arrival *arrival);
/* Why the last answer was SOCKETS_LATER. */
const char *sockets_trouble(const struct sockets *sockets);

/* False: the reply was not delivered, because the peer has gone or does not read. */
bool sockets_send(struct sockets *sockets, const struct peer *peer, const void *data, size_t size);

#endif
