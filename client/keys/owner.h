/*
 * owner.h: the secret by which a client at a plain TCP endpoint proves to the collector that it is the store's own user
 * (WIRE.md, Whose store it is). The collector makes one at each start. It writes the secret, with its endpoints, into a
 * file in the store that only its owner can read. Collector and client use this one form of the file.
 */
#ifndef CLIENT_OWNER_H
#define CLIENT_OWNER_H

#include <portolan/wire.h>

#define OWNER_FILE "owner.secret"

/* Makes the file, and a new secret. `endpoints`: lines of the file, as owner_line() makes them. False: errno says why.
 */
bool owner_write(const char *path, const char *endpoints, uint8_t secret[WIRE_OWNER_SIZE]);
/* Appends the line of one endpoint to `endpoints` of `size` bytes. */
void owner_line(char *endpoints, size_t size, const char *endpoint);

/* Reads the secret. False: `path` is no such file, does not belong to this user, can be read by others, or does not
 * name this machine and `endpoint`: then nothing of it may be sent there, whoever has named the path. */
bool owner_read(const char *path, const char *endpoint, uint8_t secret[WIRE_OWNER_SIZE]);

#endif
