/* slice.h: chooses the examples that a phase of AFLite removes (a slice), by what its classifiers predicted, for
 * filter.c. Pure. */
#ifndef AFLITE_SLICE_H
#define AFLITE_SLICE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slice_heuristic {
	SLICE_BEST,   /* "slice": the most predictable */
	SLICE_GREEDY, /* the same, one at a time */
	SLICE_SAMPLE, /* drawn without replacement, with probability proportional to p (by the Gumbel trick) */
};
enum slice_ties { SLICE_TIES_MARGIN, SLICE_TIES_HASH, SLICE_TIES_INDEX };

extern const char *const slice_heuristic_names[];
extern const char *const slice_ties_names[];

struct slice_request {
	const uint32_t *made, *correct; /* by row: the predictions, and the right ones; p = correct / made */
	const float *margins;           /* by row */
	const uint32_t *order;          /* `count` rows, by ascending example */
	size_t count;
	size_t size;      /* the most rows that are removed */
	double threshold; /* the least p that qualifies */
	enum slice_heuristic heuristic;
	enum slice_ties ties;
	uint64_t seed, phase; /* seed the draws (training.h) */
};

struct slice {
	uint32_t *rows; /* the rows that are removed; the caller frees them */
	size_t count;
	size_t qualified; /* rows with p at or above the threshold */
	double lowest;    /* the lowest p that is removed; NaN: nothing is */
	size_t tied;      /* rows that have this p */
	size_t tied_removed;
};

/* Orders rows with the same p as `ties` says, and what is equal after that by ascending example. A sample has no ties. */
struct slice slice_take(const struct slice_request *request);

#endif
