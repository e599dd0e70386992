/*
 * scan.h: computes the ids, labels and measures of a run part by part, in several threads, for commands whose memory
 * must not grow with the run, and for dynamics_load().
 *
 * A part is a block of the store (consecutive examples), or a piece of a block. It comes as a struct dynamics, in which
 * example i is example first + i of the run. Its columns, gold and ids are filled; `order` lists the examples that were
 * observed. The worker thread owns the part, which is gone when `work` returns. What is to be delivered, the caller
 * keeps in slots, of which there are parallel_slots(run->threads).
 */
#ifndef SCAN_H
#define SCAN_H

#include "dynamics_columns.h"

struct scan_steps {
	void *context;
	/* Works on a part, in any of the threads, several at once. It may change the part's values. */
	int (*work)(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error);
	/* Delivers a block from its slot, in the caller's thread, in the order of the run's examples. May be NULL. */
	int (*deliver)(void *context, unsigned slot, struct portolan_error *error);
	/* The most examples of a part, a multiple of 64. A block is then worked on in several parts, one after another
	 * with the same slot, each small enough for the cache of a core. 0: each block is one part. */
	uint32_t rows;
	bool placed; /* part->place is wanted; the call of `work` may then wait until other blocks are read */
};

/*
 * Scans the run, which dynamics_open() opened, and sums up its count, gaps and trend. Columns, or gold, for which
 * the run has an array are written there, and the part's point into it.
 */
int scan_run(struct dynamics *run, const struct scan_steps *steps, struct portolan_error *error);

#endif
