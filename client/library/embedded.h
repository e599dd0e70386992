/*
 * embedded.h: a collector of one's own for a store directory: is one there, and starting one.
 *
 * `portoland --detach` becomes a process of its own session: its first process ends with 0 once it listens, or with a
 * line on stderr that says why not. Of several that start at once one wins; the others are content with it.
 */
#ifndef CLIENT_EMBEDDED_H
#define CLIENT_EMBEDDED_H

#include "endpoint.h"

#include <stdbool.h>

struct embedded {
	char *store;        /* absolute */
	char *program;      /* what to start; NULL: there is no portoland */
	char **environment; /* of what is started */
	struct endpoint endpoint;
};

/* Makes the store directory, with its parents, if there is none. The environment (PORTOLAND, PATH, and what a collector
 * gets of it) is read here and not later: the application may change it while a thread of ours starts a collector. */
int embedded_init(struct embedded *embedded, const char *store, const char *program, struct portolan_error *error);
void embedded_deinit(struct embedded *embedded); /* twice does no harm */

/* Somebody listens at the store's endpoint. */
bool embedded_is_served(const struct embedded *embedded);

/* Starts a collector and waits until it listens: at most until `deadline` (clock.h), or `cancelled` (may be NULL) says
 * so. Leaves no child process behind. 0 also if another one turned out to serve the store. PORTOLAN_E_NO_COLLECTOR. */
int embedded_start(const struct embedded *embedded, int64_t deadline, int (*cancelled)(void *context), void *context,
                   struct portolan_error *error);

#endif
