/* pairs.h: compares two runs, for `portolan compare`: which examples they share, how alike their measures are, how
 * examples move between regions, and how much selections from the two overlap. */
#ifndef PAIRS_H
#define PAIRS_H

#include "measures/dynamics.h"
#include "regions/regions.h"
#include "selection/selection.h"

struct pair {
	const struct dynamics *a, *b;
	uint32_t *rows_a, *rows_b; /* the shared examples by ascending id: dense indices in either */
	size_t shared;
};

/* Matches the examples of two runs, of which the pair keeps pointers. Runs with other kinds of ids, or that share no
 * example, end the command. */
void pair_init(struct pair *pair, const struct dynamics *a, const struct dynamics *b);
void pair_free(struct pair *pair);

/* How alike a measure is in two runs, or, without runs, the mean of that over the pairs that have the measure. */
struct pair_correlation {
	const char *measure, *run_a, *run_b; /* the measure as a column's name in `a` */
	uint64_t pairs;                      /* of a mean: so many have it */
	uint64_t examples;        /* shared ones that have the measure in both runs; of a mean, the fewest of a pair */
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
 * many. Without `cuts`, regions are cut by each run's own defaults for the shared examples. A run that lacks the signals
 * for the rule ends the command. */
struct pair_overlap pair_select(const struct pair *pair, const struct selection_rule *rule,
                                const struct region_cuts *cuts, double fraction, uint64_t seed);

#endif
