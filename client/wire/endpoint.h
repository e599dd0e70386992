/*
 * endpoint.h: the address at which the collector of a store directory listens. The client that looks for the collector
 * and the collector itself use this one rule.
 *
 *	ipc://DIRECTORY/collector.sock			DIRECTORY absolute, links resolved
 *	ipc:///proc/self/fd/N/collector.sock		the same file, where that path would be over 100 bytes (the kernel
 *							takes 107): N is the directory, kept open
 */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include <portolan/portolan.h>

#include <stdbool.h>

#define ENDPOINT_SIZE 128
#define ENDPOINT_LOCK_FILE "portoland.lock" /* in the store: flock()ed by the collector that serves it */

struct endpoint {
	char text[ENDPOINT_SIZE]; /* for libzmq, in this process only */
	int directory;            /* -1: not kept open */
};

/* `directory` must exist. To be closed after the last use of its text. PORTOLAN_E_INVALID (no such directory) or
 * PORTOLAN_E_SYSTEM. */
int endpoint_open(const char *directory, struct endpoint *endpoint, struct portolan_error *error);
void endpoint_close(struct endpoint *endpoint); /* twice does no harm */

/* Does a collector hold the store's lock? It may be starting or ending, and not listen. This call takes the lock for a
 * moment, and may so keep another collector from starting. *holder (may be NULL): the collector's process number from
 * the lock file, or 0. */
bool endpoint_is_locked(const char *directory, long *holder);

#endif
