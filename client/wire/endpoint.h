/*
 * endpoint.h: where the collector of a store directory listens. One rule, kept by the client that looks for it and by
 * the collector that serves it.
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

/* Whether a collector holds the store, also one that starts or ends and does not listen. Looking takes the lock for a
 * moment, and may keep another collector from starting. *holder (may be NULL): its process, if it says so; else 0. */
bool endpoint_is_locked(const char *directory, long *holder);

#endif
