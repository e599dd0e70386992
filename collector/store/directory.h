/*
 * directory.h: makes the directory of a store and its files for the writer, and locks it, so that one collector at a
 * time serves it.
 */
#ifndef STORE_DIRECTORY_H
#define STORE_DIRECTORY_H

#include <portolan/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates the directory if there is none, refuses network file systems (STORE_E_SYSTEM), and locks portoland.lock for
 * this process; STORE_E_LOCKED names the process that holds it. Close *fd to give the lock up. */
int store_lock_take(const char *directory, int *fd, struct portolan_error *error);

/* Is portoland.lock still the locked file? False: it was removed, and another process may have locked a new one. */
bool store_lock_is_held(int fd);

/* For the holder of the lock: makes an empty data.mdb, and lock.mdb, unless there is a store. */
int store_environment_create(const char *directory, struct portolan_error *error);

/* If the group may read data.mdb, gives it the other permissions that reading needs, as far as the user may. */
void store_lock_let_group_read(const char *directory);

#endif
