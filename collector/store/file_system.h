/*
 * file_system.h: recognises network file systems, on which the writer makes and opens no store; private to the writing
 * half.
 */
#ifndef STORE_FILE_SYSTEM_H
#define STORE_FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* True: the directory is on a network file system, and `name` gets its name. False: it is on none that is known. */
bool store_file_system_is_shared(const char *directory, char *name, size_t size);

/* For tests. The network file system with this number of statfs(2); NULL: none has it. */
const char *store_file_system_shared_number(uint64_t number);
/* Is this type of /proc/self/mountinfo a network file system? For FUSE, whose number says nothing. */
bool store_file_system_shared_type(const char *type);
/* Finds the type in the last line of /proc/self/mountinfo for this device. False: there is no such line. */
bool store_file_system_find_type(FILE *mountinfo, unsigned major, unsigned minor, char *type, size_t size);

#endif
