/*
 * owner.h: the secret by which a client at a plain TCP endpoint proves to the collector that it is the store's own user
 * (WIRE.md, Whose store it is). The collector makes one at each start. It writes the secret, with its endpoints, into a
 * file in the store that only its owner can read. Collector and client use this one form of the file.
 */
#ifndef CLIENT_OWNER_H
#define CLIENT_OWNER_H

#include <portolan/wire.h>

#define OWNER_FILE "owner.secret"

/* Makes a new secret, and the file that holds it. `endpoints`: the lines that owner_line() has made. False: errno says
 * why. */
bool owner_write(const char *path, const char *endpoints, uint8_t secret[WIRE_OWNER_SIZE]);
/* Appends the line for an endpoint to `endpoints`, which has room for `size` bytes. */
void owner_line(char *endpoints, size_t size, const char *endpoint);

/* Reads the secret. False: `path` is not such a file, does not belong to this user, can be read by others, or does not
 * name both this machine and `endpoint`. Then nothing from the file may be sent to that endpoint. */
bool owner_read(const char *path, const char *endpoint, uint8_t secret[WIRE_OWNER_SIZE]);

#endif
