/* directory.h: the directory of a store, for the writer: where it may be, its one collector, and its files. */
#ifndef STORE_DIRECTORY_H
#define STORE_DIRECTORY_H

#include <portolan/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates the directory if need be, refuses network file systems (STORE_E_SYSTEM), and locks portoland.lock for this
 * process; STORE_E_LOCKED names the process that has it. *fd is to be closed to give the lock up. */
int store_lock_take(const char *directory, int *fd, struct portolan_error *error);

/* False: portoland.lock was removed, so that another process may have taken one of its own. */
bool store_lock_is_held(int fd);

/* For the holder of the lock: makes data.mdb, with nothing in it, and lock.mdb, unless there is a store. */
int store_environment_create(const char *directory, struct portolan_error *error);

/* Where the group may read data.mdb, lets it do so: that needs more than the file. As good as the user may. */
void store_lock_let_group_read(const char *directory);

/* The name of the network file system the directory is on, in `name`; false: it is none, or none that is known. */
bool store_file_system_is_shared(const char *directory, char *name, size_t size);

/* Its parts. By the number that statfs(2) gives; NULL: not one of a network file system. */
const char *store_file_system_shared_number(uint64_t number);
/* By the type that mountinfo gives: of FUSE, the number says nothing. */
bool store_file_system_shared_type(const char *type);
/* The type in the line of /proc/self/mountinfo that is of this device; the last such line counts. false: there is none.
 */
bool store_file_system_find_type(FILE *mountinfo, unsigned major, unsigned minor, char *type, size_t size);

#endif
