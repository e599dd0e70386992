/*
 * serving.h: a collector for a command (import, rm) on a store that nobody serves: this very program, started in the
 * background. It leaves by itself when no session is live and all is folded, and at once when this process has ended,
 * also by SIGKILL. One thread, the one that ends with the process.
 */
#ifndef COLLECTOR_SERVING_H
#define COLLECTOR_SERVING_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

/* The collector that was started here. */
struct serving {
	pid_t process; /* a child; 0: there is none */
};

/* Returns when the store has a collector: one that was there already, whatever it is doing, or one started here. An
 * error is what that one says. Makes the store if there is none. 1: one was started; 0: one was there. */
int serving_begin(struct serving *serving, const char *store, struct portolan_error *error);

/* Whether the collector that was started here, if any, has left. */
bool serving_has_left(struct serving *serving);
/* Makes it leave, without folding. */
void serving_stop(const struct serving *serving);

#endif
