/*
 * directory.h: makes a directory with its parents, and has it on disk: for the client library's spool files and stores.
 */
#ifndef CLIENT_DIRECTORY_H
#define CLIENT_DIRECTORY_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* Makes the directory and its parents, and syncs new ones, if the file system can do that. Returns 0 also if the
 * directory exists. *made (may be NULL): the directory itself was made here. `what` begins the message of a failure.
 * PORTOLAN_E_SYSTEM, PORTOLAN_E_MEMORY. */
int directory_make(const char *path, const char *what, bool *made, struct portolan_error *error);

/* Syncs the names in the directory. Does nothing if the directory may not be read, or the file system cannot sync
 * it. */
void directory_sync(const char *path);

/* Makes `path` absolute, so that a later chdir() does not matter. The caller's to free(). NULL: errno says why. */
char *directory_absolute(const char *path);

#endif
