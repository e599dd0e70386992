/*
 * registry.h: which snapshots are in use; private to the store.
 *
 * Each snapshot has a file readers/PID.N in the store's directory, locked (flock) while it is open, that holds the LMDB
 * transaction number the snapshot was read at, in decimal. What was retired in a later commit may be needed by it.
 * A file that can be locked belongs to nobody any more. An empty file or 0 keeps everything.
 */
#ifndef STORE_REGISTRY_H
#define STORE_REGISTRY_H

#include <portolan/error.h>

#include <stdbool.h>
#include <stdint.h>

struct registration {
	int fd; /* −1: none */
	char *path;
};

/* Enters a snapshot before its transaction begins: it keeps everything until store_registry_set(). False if the
 * directory cannot be written: the caller then has to keep its LMDB transaction. */
bool store_registry_enter(const char *directory, struct registration *registration);
bool store_registry_set(const struct registration *registration, uint64_t commit);
void store_registry_leave(struct registration *registration);

/* For the collector: the lowest number listed (UINT64_MAX: nobody); removes files of dead readers. */
uint64_t store_registry_oldest(const char *directory);

#endif
