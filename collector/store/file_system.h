/* file_system.h: whether a directory is on a disk of this host, or on one that other hosts write to as well. */
#ifndef STORE_FILE_SYSTEM_H
#define STORE_FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the network file system the directory is on, in `name`; false: it is none, or none that is known. */
bool store_file_system_is_shared(const char *directory, char *name, size_t size);

/* Its two halves. By the number that statfs(2) gives; NULL: not one of a network file system. */
const char *store_file_system_shared_number(uint64_t number);
/* By the type that mountinfo gives: of FUSE, the number says nothing. */
bool store_file_system_shared_type(const char *type);

/* The type in the line of the text of /proc/self/mountinfo that is of this device; the last such line counts.
 * false: there is none. */
bool store_file_system_find_type(const char *mountinfo, unsigned major, unsigned minor, char *type, size_t size);

#endif
