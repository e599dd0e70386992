/* peers.h: keeps track of the connections to the live page, for its HTTP daemon, so that those which never show the
 * token cannot keep others out: near the limit, the oldest of them is closed. */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>

struct peers;
struct peer;

struct peers *peers_new(size_t most); /* beyond `most` connections, one is closed for each new one */
void peers_free(struct peers *peers); /* all connections must have gone; NULL: does nothing */

/* Adds a connection. If another one is closed for it, pauses for half a millisecond. Its socket must stay open until
 * peers_go(). NULL: out of memory; the connection is then not counted. This function and those below are safe from
 * several threads; those below do nothing with NULL. */
struct peer *peers_come(struct peers *peers, int socket);
void peers_go(struct peers *peers, struct peer *peer);
void peers_trust(struct peers *peers, struct peer *peer); /* it has shown the token, and is not closed for others */

/* Shuts down all connections, also those that come later, and waits until all have gone. */
void peers_end(struct peers *peers);

#endif
