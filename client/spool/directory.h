/*
 * directory.h: makes a directory with its parents, and has it on disk: for the client library's spool files and stores.
 */
#ifndef CLIENT_DIRECTORY_H
#define CLIENT_DIRECTORY_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* Also 0 if the directory exists. New directories are synced, if the file system can do that. `what` begins the message
 * of a failure. *made (may be NULL): the last part was made here. PORTOLAN_E_SYSTEM, PORTOLAN_E_MEMORY. */
int directory_make(const char *path, const char *what, bool *made, struct portolan_error *error);

/* Syncs the names in the directory. Does nothing if the directory may not be read, or the file system cannot sync
 * it. */
void directory_sync(const char *path);

/* `path` made absolute, so that a later chdir() does not matter; NULL with errno. The caller's to free(). */
char *directory_absolute(const char *path);

#endif
