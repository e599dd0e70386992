/*
 * detach.h: going on in the background. The first process waits until the second can serve, or reports why it cannot.
 *
 * Call before anything else is opened: neither LMDB nor libzmq survives fork().
 */
#ifndef COLLECTOR_DETACH_H
#define COLLECTOR_DETACH_H

#include <portolan/portolan.h>

/* Returns only in the second process, with *parent the pipe to the first, or on failure. */
int detach_begin(int *parent, struct portolan_error *error);

/* Lets the first process end: with 0 if the message is empty, and stderr goes to STORE/portoland.log from now on; else
 * it prints the message and ends with 1. Not twice: *parent becomes -1, and then nothing happens. */
void detach_end(int *parent, const char *store, const char *message);

#endif
