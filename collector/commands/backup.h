/*
 * backup.h: `portoland backup`: a copy of a store, taken while it is in use.
 */
#ifndef COLLECTOR_BACKUP_H
#define COLLECTOR_BACKUP_H

#include <portolan/portolan.h>

#include <stdint.h>

/*
 * Copies the store as its last commit left it to `target`, which must not exist, or be an empty directory, and is a store once
 * it is there: all of it, synced, or nothing. The store's collector, if there is one, is neither asked nor held up; pages it
 * frees meanwhile wait for the copy's end to be used again. *bytes is the size of the copy.
 */
int backup_run(const char *store, const char *target, uint64_t *bytes, struct portolan_error *error);

#endif
