/*
 * keygen.h: makes the keys of a collector and of its clients (keys.h says where they lie).
 *
 * Nothing that exists is overwritten. Secret keys are made readable by their owner alone.
 */
#ifndef COLLECTOR_KEYGEN_H
#define COLLECTOR_KEYGEN_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* DIRECTORY: server.key, server.pub, client.key, clients/client.pub; it is made if it is not there. */
int keygen_collector(const char *directory, struct portolan_error *error);

/* One more client of the collector of DIRECTORY: DIRECTORY/NAME/client.key with a copy of server.pub beside it, to be
 * moved to where the client runs; and DIRECTORY/clients/NAME.pub, which lets it in. */
int keygen_client(const char *directory, const char *name, struct portolan_error *error);

/* 1 to 64 letters, digits, "-", "_" or ".", the first of them none of these three; and not "clients". */
bool keygen_name_is_valid(const char *name);

#endif
