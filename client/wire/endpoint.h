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
#define ENDPOINT_LOCK_FILE "portoland.lock" /* in the store; the collector that serves it holds a flock() on it */

struct endpoint {
	char text[ENDPOINT_SIZE]; /* the address for libzmq, valid in this process only */
	int directory;            /* descriptor of the store's directory; -1: not kept open */
};

/* Makes the address of the collector of a store. To be closed after the last use of endpoint->text. PORTOLAN_E_INVALID:
 * there is no such directory; PORTOLAN_E_SYSTEM. */
int endpoint_open(const char *directory, struct endpoint *endpoint, struct portolan_error *error);
void endpoint_close(struct endpoint *endpoint); /* twice does no harm */

/* Does a collector hold the store's lock? If it is just starting or ending, it does not listen. This call takes the
 * lock for a moment, and may thereby keep a collector from starting. *holder (may be NULL): the collector's process
 * number, as the lock file has it, or 0. */
bool endpoint_is_locked(const char *directory, long *holder);

#endif
