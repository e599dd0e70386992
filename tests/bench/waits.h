/* waits.h: what the storer, the collector's thread that writes the store, spends its time on: waits_shim.c, loaded into
 * the collector, counts it in a file that ingest.c maps as well. */
#ifndef WAITS_H
#define WAITS_H

#include <stdatomic.h>
#include <stdint.h>

#define WAITS_FILE "BENCH_WAITS" /* the environment's name of the file, which has the size of a struct waits */

enum wait {
	WAIT_SYNC,   /* for the disk: fdatasync(), and writes to a descriptor with O_DSYNC */
	WAIT_WRITE,  /* other writes: copies to the page cache */
	WAIT_FRAMES, /* for work: it has none */
	WAIT_COUNT
};

struct waits {
	_Atomic uint64_t nanoseconds[WAIT_COUNT], calls[WAIT_COUNT], bytes[WAIT_COUNT];
};

#endif
