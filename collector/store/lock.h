/* lock.h: one collector per store. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include <portolan/error.h>

/* Creates the directory if need be, refuses network file systems (STORE_E_SYSTEM), and locks portoland.lock for this
 * process; STORE_E_LOCKED names the process that has it. *fd is to be closed to give the lock up. */
int store_lock_take(const char *directory, int *fd, struct portolan_error *error);

#endif
