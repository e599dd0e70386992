/*
 * open_stores.h: keeps open, for all requests of the live page, the store that the page shows. If another store takes
 * its place on disk, that one is opened, and the old one is closed as soon as no request reads it. Safe from several
 * threads.
 */
#ifndef OPEN_STORES_H
#define OPEN_STORES_H

#include <portolan/error.h>

#include <sys/types.h>

struct store;
struct open_stores;

/* `directory` is copied. NULL: out of memory. */
struct open_stores *open_stores_new(const char *directory);
void open_stores_free(struct open_stores *stores); /* every store must have been returned; NULL: does nothing */

/* Gives the store that is in the directory now, for short transactions. It stays open until it is returned. *inode (may
 * be NULL) becomes that of its data.mdb. A code of store_open(). */
int open_stores_take(struct open_stores *stores, struct store **store, ino_t *inode, struct portolan_error *error);
void open_stores_return(struct open_stores *stores, struct store *store);

#endif
