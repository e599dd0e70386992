/* directory.h: making a directory with its parents; private to the library. */
#ifndef CLIENT_DIRECTORY_H
#define CLIENT_DIRECTORY_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* 0 also if it exists. `what` begins the message of a failure. *made (may be NULL): the last part was made here.
 * PORTOLAN_E_SYSTEM, PORTOLAN_E_MEMORY. */
int directory_make(const char *path, const char *what, bool *made, struct portolan_error *error);

/* `path` as seen from the root, so that a later chdir() does not matter; NULL with errno. The caller's to free(). */
char *directory_absolute(const char *path);

#endif
