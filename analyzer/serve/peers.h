/*
 * peers.h: the connections that there are, so that those which never show the token keep nobody out: when there are
 * nearly as many as may be, the oldest of them makes room.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>

struct peers;
struct peer;

struct peers *peers_new(size_t most); /* connections before one is shut down for another; NULL: out of memory */
void peers_free(struct peers *peers); /* all have gone; NULL: nothing */

/* One comes, on this socket, which stays open until it has gone. NULL: out of memory; it is not counted then. Safe from
 * several threads, as are those below, which do nothing with NULL. */
struct peer *peers_come(struct peers *peers, int socket);
void peers_go(struct peers *peers, struct peer *peer);
void peers_trust(struct peers *peers, struct peer *peer); /* it has shown the token, and makes room for nobody */

/* Shuts all down, and those that come later, and waits until all there were have gone. */
void peers_end(struct peers *peers);

#endif
