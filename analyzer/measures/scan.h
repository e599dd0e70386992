/*
 * scan.h: computes a run's examples part by part, in several threads, so that a command's memory need not grow with the
 * run.
 *
 * A part is a block of the store, or a piece of one, as a struct dynamics: example i of it is example first + i of the
 * run. Its columns, gold and ids are filled; order lists those that were observed. The worker owns it, and it is gone
 * when the work returns. The caller keeps the data to deliver in parallel_slots(run->threads) slots.
 */
#ifndef SCAN_H
#define SCAN_H

#include "dynamics_columns.h"

struct scan_steps {
	void *context;
	/* In a worker's thread, several at once. May change the part's values. */
	int (*work)(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error);
	/* In the caller's thread, for a block, in the order of the run's examples; may be NULL. */
	int (*deliver)(void *context, unsigned slot, struct portolan_error *error);
	/* Examples of a part at most, a multiple of 64: a block is worked on in several parts, one after another with
	 * the same slot, each small enough for the cache of a core. 0: a block is one part. */
	uint32_t rows;
	bool placed; /* part->place is wanted; work may then wait for others' */
};

/*
 * Goes through the run, which dynamics_open() opened, and sums up its count, gaps and first_epoch. Where the run's
 * columns or gold have an array, it is filled, and the part's points into it.
 */
int scan_run(struct dynamics *run, const struct scan_steps *steps, struct portolan_error *error);

#endif
