/*
 * embedded.h: starts a collector for a run that has a store directory, so that its user need not start one; and tells
 * whether one serves the store already.
 *
 * `portoland --detach` becomes a process of its own session: its first process ends with 0 once the collector listens,
 * or with a line on stderr that says why it cannot. Of several collectors that start at once one serves the store; the
 * other starts then succeed too.
 */
#ifndef CLIENT_EMBEDDED_H
#define CLIENT_EMBEDDED_H

#include "endpoint.h"

#include <stdbool.h>

struct embedded {
	char *store;        /* absolute */
	char *program;      /* the path of portoland; NULL: there is none */
	char **environment; /* for the collector; it also bounds that one's memory */
	struct endpoint endpoint;
};

/* Prepares the start of a collector: makes the store directory, with its parents, if there is none, and finds
 * portoland. The environment (PORTOLAND, PATH, and the variables that a collector inherits) is read here and not later,
 * as the application may change it while our thread starts a collector. */
int embedded_init(struct embedded *embedded, const char *store, const char *program, struct portolan_error *error);
void embedded_deinit(struct embedded *embedded); /* twice does no harm */

/* Does a collector listen at the store's endpoint? */
bool embedded_is_served(const struct embedded *embedded);

/* Starts a collector, and waits until it listens, but no longer than `deadline` (clock.h), and not after `cancelled`
 * (may be NULL) has returned true. Leaves no child process behind. Returns 0 also if another collector serves the
 * store; PORTOLAN_E_NO_COLLECTOR. */
int embedded_start(const struct embedded *embedded, int64_t deadline, int (*cancelled)(void *context), void *context,
                   struct portolan_error *error);

#endif
