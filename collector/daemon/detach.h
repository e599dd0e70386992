/*
 * detach.h: going on in the background. The first process waits until the second can serve, or reports why it cannot.
 *
 * Call before anything else is opened: neither LMDB nor libzmq survives fork().
 */
#ifndef COLLECTOR_DETACH_H
#define COLLECTOR_DETACH_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

struct detach {
	int pipe;          /* to the first process; -1 once told */
	const char *store; /* whose portoland.log gets stderr from detach_ready() on */
};

/* Returns only in the second process, or on failure. The first ends with the second's exit code and message. */
int detach_begin(struct detach *detach, const char *store, struct portolan_error *error);

/* From now on SIGTERM comes when `starter`, the parent, has ended, however that was. False: it has ended already. */
bool detach_follow(pid_t starter);

/* Lets the first process end with 0. Signature as server_options.ready; `context` is the struct detach. */
void detach_ready(void *context);

/* Lets it print `message` and end with `code`. */
void detach_failed(struct detach *detach, int code, const char *message);

#endif
