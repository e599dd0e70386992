/* collector_lock.h: does a collector serve the store? */
#ifndef COLLECTOR_LOCK_H
#define COLLECTOR_LOCK_H

#include <stdbool.h>

/* Looks whether the store's lock is held, without touching it: a collector that starts at this moment must not find it
 * taken. A collector of another PID namespace (a container) is not seen. */
bool collector_lock_is_held(const char *directory);

#endif
