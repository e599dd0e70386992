/* collector_lock.h: finds out whether a collector serves the store, for `watch`, `epochs` and `serve`. */
#ifndef COLLECTOR_LOCK_H
#define COLLECTOR_LOCK_H

#include <stdbool.h>

/* Does a process hold the store's lock? The lock is not tried, as a collector that starts at this moment must find it
 * free. A collector in another PID namespace (a container) is not seen. */
bool collector_lock_is_held(const char *directory);

#endif
