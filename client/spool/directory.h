/* directory.h: making a directory with its parents; private to the library. */
#ifndef CLIENT_DIRECTORY_H
#define CLIENT_DIRECTORY_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* 0 also if it exists. What is made is on disk, as far as the file system can say so. `what` begins the message of a
 * failure. *made (may be NULL): the last part was made here. PORTOLAN_E_SYSTEM, PORTOLAN_E_MEMORY. */
int directory_make(const char *path, const char *what, bool *made, struct portolan_error *error);

/* The names in it are on disk. Left undone where it may not be read, or the file system cannot. */
void directory_sync(const char *path);

/* `path` as seen from the root, so that a later chdir() does not matter; NULL with errno. The caller's to free(). */
char *directory_absolute(const char *path);

#endif
