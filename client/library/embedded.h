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
	char *program;      /* what to start; NULL: there is no portoland */
	char **environment; /* bound for the memory of the collector that is started */
	struct endpoint endpoint;
};

/* Makes the store directory, with its parents, if there is none. The environment (PORTOLAND, PATH, and the variables
 * that a collector inherits) is read here and not later: the application may change it while a thread of ours starts a
 * collector. */
int embedded_init(struct embedded *embedded, const char *store, const char *program, struct portolan_error *error);
void embedded_deinit(struct embedded *embedded); /* twice does no harm */

/* Does a collector listen at the store's endpoint? */
bool embedded_is_served(const struct embedded *embedded);

/* Starts a collector and waits until it listens: at most until `deadline` (clock.h), or until `cancelled` (may be NULL)
 * answers true. Leaves no child process behind. Also 0 if another collector serves the store.
 * PORTOLAN_E_NO_COLLECTOR. */
int embedded_start(const struct embedded *embedded, int64_t deadline, int (*cancelled)(void *context), void *context,
                   struct portolan_error *error);

#endif
