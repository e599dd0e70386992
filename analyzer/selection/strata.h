/*
 * strata.h: for `portolan select --strata`: chooses a subset that covers the whole range of a measure: coverage-centric
 * selection (CCS; Zheng et al. 2023, algorithm 1).
 *
 * The first examples of the ranking, the hardest, are cut off. The range of the other examples' values is divided into
 * strata of equal width, from which examples are taken as evenly as possible (see balanced.h).
 */
#ifndef STRATA_H
#define STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strata {
	const double *values; /* by dense index */
	bool descending;      /* which end of the values is cut off: the highest? */
	const uint32_t *list; /* dense indices by ascending id */
	size_t n;
	size_t count; /* the number of strata, at least 1 */
	double cut;   /* the share of the n examples that is cut off, rounded half up, in [0, 1) */
	uint64_t seed;
};

/* Fills ranked[] with the first `limit` ≤ n examples at most, and returns how many there are. Examples whose value is
 * not finite come last, in the order of the ranking. */
size_t strata_rank(const struct strata *strata, size_t limit, uint32_t *ranked);

/* The stratum of a value from `lowest` to `highest`, all finite: 0 … count−1. */
size_t strata_find(double value, double lowest, double highest, size_t count);

#endif
