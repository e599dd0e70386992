/*
 * open_stores.h: the store that is served, open while anybody reads it. Another store may take its place on disk: then
 * that one is opened, and the one before is closed as soon as nobody reads it. Safe from several threads.
 */
#ifndef OPEN_STORES_H
#define OPEN_STORES_H

#include <portolan/error.h>

#include <sys/types.h>

struct store;
struct open_stores;

/* `directory` is copied. PORTOLAN_E_MEMORY. */
int open_stores_new(struct open_stores **stores, const char *directory, struct portolan_error *error);
void open_stores_free(struct open_stores *stores); /* every store must be returned; NULL: nothing */

/* The store that is in the directory now, open until it is returned: for short transactions. `inode`, unless it is
 * NULL, is its data.mdb's. A code of store_open()'s. */
int open_stores_take(struct open_stores *stores, struct store **store, ino_t *inode, struct portolan_error *error);
void open_stores_return(struct open_stores *stores, struct store *store);

#endif
