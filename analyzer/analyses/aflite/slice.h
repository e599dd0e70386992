/* slice.h: which examples a phase removes. Pure but for lack of memory. */
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
	const uint32_t *made, *correct; /* by row: predictions, and right ones; p = correct / made */
	const float *margins;
	const uint32_t *order; /* rows, by ascending example; */
	size_t count;          /* so many */
	size_t size;           /* remove so many at most */
	double threshold;      /* with p at least this */
	enum slice_heuristic heuristic;
	enum slice_ties ties;
	uint64_t seed, phase; /* of what is drawn */
};

struct slice {
	uint32_t *rows; /* what is removed; the caller's to free() */
	size_t count;
	size_t qualified; /* with p at or above the threshold */
	double lowest;    /* the lowest p removed; NaN: nothing is */
	size_t tied;      /* that have this p */
	size_t tied_removed;
};

/* Ties in p, and what is equal after that, go as `ties` says, then by ascending example; SAMPLE has none. */
int slice_take(const struct slice_request *request, struct slice *slice, struct portolan_error *error);

#endif
