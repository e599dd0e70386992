/*
 * serving.h: starts a collector for a command (import, rm) on a store without one: this program itself, in the
 * background. The collector ends when no session is live and all is folded, and at once when this process has ended,
 * even by SIGKILL. Call it from the main thread only: the collector follows the thread that started it.
 */
#ifndef COLLECTOR_SERVING_H
#define COLLECTOR_SERVING_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <sys/types.h>

/* The collector that was started here. */
struct serving {
	pid_t process; /* the child; 0: none was started */
};

/* Makes sure that the store has a collector: it has one already, in whatever state, or one is started here, whose
 * message becomes the error if it fails. Makes the store if there is none. 1: a collector was started; 0: there was
 * one. */
int serving_begin(struct serving *serving, const char *store, struct portolan_error *error);

/* Has the collector that was started here, if any, ended? */
bool serving_has_left(struct serving *serving);
/* Ends it, without folding. */
void serving_stop(const struct serving *serving);

#endif
