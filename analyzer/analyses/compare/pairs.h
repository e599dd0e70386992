/*
 * pairs.h: compares two runs: the examples they share, how alike their measures are, how examples move between regions,
 * and how much selections overlap.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "measures/dynamics.h"
#include "selection/regions.h"
#include "selection/selection.h"

struct pair {
	const struct dynamics *a, *b;
	uint32_t *rows_a, *rows_b; /* the shared examples by ascending id: dense indices in either */
	size_t shared;
};

/* Matches the examples of two runs. *pair is the caller's to pair_free() also after a failure. PORTOLAN_E_INVALID:
 * the runs have other kinds of ids, or share no example. */
int pair_init(struct pair *pair, const struct dynamics *a, const struct dynamics *b, struct portolan_error *error);
void pair_free(struct pair *pair);

struct pair_correlation {
	const char *measure;      /* a column's name in `a` */
	uint64_t examples;        /* shared ones that have the measure in both runs */
	double pearson, spearman; /* NaN: not defined, as for a constant measure */
};

/* Correlates every column that both have, except `epochs`; returns how many. Room for DYNAMICS_COLUMNS_MAX. */
size_t pair_correlate(const struct pair *pair, struct pair_correlation *rows);

/* Counts the shared examples by their region in `a` and their region in `b`. */
void pair_moves(const struct pair *pair, const uint8_t *regions_a, const uint8_t *regions_b,
                uint64_t moves[REGION_COUNT][REGION_COUNT]);

struct pair_overlap {
	uint64_t in_a, in_b, both; /* shared examples that are selected in a, in b, in both */
};

/* Selects in each run by the rule, among the shared examples: the first `fraction` of them, as far as the rule ranks so
 * many. Without `cuts`, regions are cut by each run's own defaults for the shared examples. PORTOLAN_E_INVALID: a run
 * lacks the signals for the rule. */
int pair_select(const struct pair *pair, const struct selection_rule *rule, const struct region_cuts *cuts,
                double fraction, uint64_t seed, struct pair_overlap *overlap, struct portolan_error *error);

#endif
