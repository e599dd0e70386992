/* listed.h: the fingerprints of all runs of a store, for `portolan runs`. */
#ifndef LISTED_H
#define LISTED_H

#include "fingerprint/fingerprint.h"

struct listed_run {
	uint32_t number; /* of the run in the store */
	char fingerprint[FINGERPRINT_ROOM];
};

struct listed {
	struct listed_run *runs;
	size_t count, room;
};

/* Computes them in a child process, on all cores. To be called while the program has no store open, and one thread. A
 * run that cannot be read, or that has much in the log, is left out; where the child does not come to its end, so are
 * others. */
struct listed listed_read(const char *store);
void listed_free(struct listed *listed);

/* The fingerprint of a run, by its number; an empty text: it is not known, or the run has no example. */
const char *listed_find(const struct listed *listed, uint32_t number);

#endif
