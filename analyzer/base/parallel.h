/*
 * parallel.h: spreads work over several threads, for every command that reads or computes much: the caller divides the
 * work into numbered parts, and gets their results in the order of the parts.
 *
 * A part's result waits in a slot, a place in the caller's memory, until it is delivered. There are a few slots for
 * each thread, so memory is bounded however many parts there are, and however slowly results are taken. The work and
 * the order of delivery do not depend on the number of threads.
 */
#ifndef PARALLEL_H
#define PARALLEL_H

#include <portolan/portolan.h>

#include <stddef.h>

struct parallel {
	unsigned threads; /* at least 1 */
	size_t count;     /* parts 0 … count−1 */
	const char *what; /* for the progress bar; NULL: none */
	void *context;
	/* Computes part `part` into `slot`, which belongs to it until it is delivered. Several run at once, in threads
	 * 0 … threads−1, of which 0 is the caller's. */
	int (*work)(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error);
	/* Takes the result of a part, in the caller's thread: part 0, then 1, 2, …. May be NULL. */
	int (*deliver)(void *context, unsigned slot, size_t part, struct portolan_error *error);
};

/* The requested number of threads; for 0 one for each core that the process may use. */
unsigned parallel_threads(unsigned asked);

/* The number of slots that parallel_run() uses with this many threads. */
unsigned parallel_slots(unsigned threads);

/* Does all parts. It stops when `work` or `deliver` returns a negative code, and returns that code; if several parts
 * fail, that of the lowest. No thread is left then. */
int parallel_run(const struct parallel *parallel, struct portolan_error *error);

#endif
