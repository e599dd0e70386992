/* store_walk.h: reads everything of a store, as the programs do that read stores, checking what they are promised. */
#ifndef STORE_WALK_H
#define STORE_WALK_H

#include <portolan/store.h>

/* Every run. False: something could not be read. The digest is over all that was read. */
bool store_walk(const char *directory, uint64_t *digest);

/* What the analyzer makes of the runs: measures, selections, a map. */
void store_analyze(const char *directory);

#endif
