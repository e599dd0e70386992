/*
 * commands.h: the commands of portoland that need no collector.
 */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stdint.h>

/* `portolan backup`: copies the store as its last commit left it to `target`, which must not exist, or be an empty
 * directory, and is a store once it is there: all of it, synced, or nothing. The store's collector, if there is one, is
 * neither asked nor held up; pages it frees meanwhile wait for the copy's end to be used again. *bytes is the size of
 * the copy. */
int backup_run(const char *store, const char *target, uint64_t *bytes, struct portolan_error *error);

/* `portolan keygen` makes the keys of a collector and of its clients (keys.h says where they lie). Nothing that exists
 * is overwritten. Secret keys are made readable by their owner alone. */

/* DIRECTORY: server.key, server.pub, client.key, clients/client.pub; it is made if it is not there. */
int keygen_collector(const char *directory, struct portolan_error *error);

/* One more client of the collector of DIRECTORY: DIRECTORY/NAME/client.key with a copy of server.pub beside it, to be
 * moved to where the client runs; and DIRECTORY/clients/NAME.pub, which lets it in. */
int keygen_client(const char *directory, const char *name, struct portolan_error *error);

/* 1 to 64 letters, digits, "-", "_" or ".", the first of them none of these three; and not "clients". */
bool keygen_name_is_valid(const char *name);

#endif
