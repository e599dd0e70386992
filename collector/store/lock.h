/* lock.h: one collector per store. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include <portolan/error.h>

#include <stdbool.h>

/* Creates the directory if need be, refuses network file systems (STORE_E_SYSTEM), and locks portoland.lock for this
 * process; STORE_E_LOCKED names the process that has it. *fd is to be closed to give the lock up. */
int store_lock_take(const char *directory, int *fd, struct portolan_error *error);

/* False: portoland.lock was removed, so that another process may have taken one of its own. */
bool store_lock_is_held(int fd);

/* Where the group may read data.mdb, lets it do so: that needs more than the file. As good as the user may. */
void store_lock_let_group_read(const char *directory);

#endif
