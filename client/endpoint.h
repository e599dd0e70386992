/*
 * endpoint.h: where the collector of a store directory listens. One rule, kept by the client that looks for it and by
 * the collector that serves it.
 *
 *	ipc://DIRECTORY/collector.sock			DIRECTORY absolute, links resolved
 *	ipc://RUNTIME/portolan-UID/HASH.sock		where that path would be over 100 bytes: the kernel takes 107
 *
 * RUNTIME is $XDG_RUNTIME_DIR, or /tmp; HASH is the FNV-1a 64 hash of DIRECTORY in 16 hex digits. portolan-UID is made
 * if need be, and refused unless it is a directory of this user that others cannot enter.
 */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include <portolan/portolan.h>

#define ENDPOINT_SIZE 128
#define ENDPOINT_LOCK_FILE "portoland.lock" /* in the store: flock()ed by the collector that serves it */

/* `directory` must exist. Returns 0, PORTOLAN_E_INVALID (no such directory) or PORTOLAN_E_SYSTEM. */
int endpoint_of_store(const char *directory, char endpoint[ENDPOINT_SIZE], struct portolan_error *error);

#endif
