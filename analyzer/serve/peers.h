/* peers.h: keeps track of the connections to the live page, for its HTTP daemon, so that those which never show the
 * token cannot keep others out: near the limit, the oldest of them is closed. */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>

struct peers;
struct peer;

struct peers *peers_new(size_t most); /* connections before one is shut down for another; NULL: out of memory */
void peers_free(struct peers *peers); /* all have gone; NULL: nothing */

/* A connection comes, on this socket, which stays open until peers_go(). NULL: out of memory; it is then not counted.
 * Safe from several threads, as are the functions below, which do nothing with NULL. */
struct peer *peers_come(struct peers *peers, int socket);
void peers_go(struct peers *peers, struct peer *peer);
void peers_trust(struct peers *peers, struct peer *peer); /* it has shown the token, and is not closed for others */

/* Shuts down all connections, also those that come later, and waits until all have gone. */
void peers_end(struct peers *peers);

#endif
