/* slice.h: chooses the examples that a phase of AFLite removes (a slice), by what its classifiers predicted, for
 * filter.c. Pure. */
#ifndef AFLITE_SLICE_H
#define AFLITE_SLICE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slice_heuristic {
	SLICE_BEST,   /* "slice": the most predictable rows */
	SLICE_GREEDY, /* "greedy": the most predictable row, one a phase */
	SLICE_SAMPLE, /* drawn without replacement, with probability proportional to p (by the Gumbel trick) */
};
enum slice_ties { SLICE_TIES_MARGIN, SLICE_TIES_HASH, SLICE_TIES_INDEX };

extern const char *const slice_heuristic_names[];
extern const char *const slice_ties_names[];

struct slice_request {
	const uint32_t *made, *correct; /* by row: predictions made, and right ones; p = correct / made */
	const float *margins;           /* by row: as in struct predictions */
	const uint32_t *order;          /* `count` rows, by ascending example */
	size_t count;
	size_t size;      /* the most rows that are removed */
	double threshold; /* the least p that qualifies */
	enum slice_heuristic heuristic;
	enum slice_ties ties;
	uint64_t seed, phase; /* seed the draws (training.h) */
};

struct slice {
	uint32_t *rows; /* the rows to be removed; the caller frees them */
	size_t count;
	size_t qualified; /* how many rows have a p at or above the threshold */
	double lowest;    /* the lowest p among the rows to be removed; NaN: there are none */
	size_t tied;      /* how many qualified rows have this p */
	size_t tied_removed;
};

/* Chooses the slice. Rows with the same p are ordered as `ties` says; where that leaves them equal, by ascending
 * example. A sample has no ties. */
struct slice slice_take(const struct slice_request *request);

#endif
