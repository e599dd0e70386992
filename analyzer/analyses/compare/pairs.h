/* pairs.h: compares two runs, for `portolan compare`: which examples they share, how alike their measures are, how
 * examples move between regions, and how much selections from the two overlap. */
#ifndef PAIRS_H
#define PAIRS_H

#include "measures/dynamics.h"
#include "regions/regions.h"
#include "selection/selection.h"
#include "statistics/correlation.h"

struct pair {
	const struct dynamics *a, *b;
	uint32_t *rows_a, *rows_b; /* the shared examples, by ascending id: their dense indices in a, and in b */
	size_t shared;
};

/* Matches the examples of two runs by their ids. The pair keeps pointers to the runs. Runs with different kinds of ids,
 * and runs that share no example, end the command. */
void pair_init(struct pair *pair, const struct dynamics *a, const struct dynamics *b);
void pair_free(struct pair *pair);

/* How alike a measure is in two runs; or, where run_a and run_b are NULL, the mean over all pairs of runs that have the
 * measure. */
struct pair_correlation {
	const char *measure, *run_a, *run_b; /* the name of the measure's column */
	uint64_t pairs;                      /* of a mean: the number of pairs it is taken over */
	uint64_t examples;        /* shared examples with a value in both runs; of a mean: the fewest of any pair */
	double pearson, spearman; /* NaN: not defined, as for a constant measure */
	struct correlation_interval interval; /* of pearson; NaN where that is not defined, and of a mean */
};

/* The level of the intervals that `compare` prints and draws. */
#define PAIR_LEVEL 0.95

/* Fills x and y, with room for pair->shared each, with a column of `a` and one of `b`: the shared examples that have a
 * value in both, by ascending id. Returns how many. */
size_t pair_values(const struct pair *pair, const struct dynamics_column *a, const struct dynamics_column *b, double *x,
                   double *y);

/* Correlates every column that both runs have, except `epochs`; returns how many. rows[] has room for
 * DYNAMICS_COLUMNS_MAX. */
size_t pair_correlate(const struct pair *pair, struct pair_correlation *rows);

/* Counts the shared examples by their region in `a` and in `b`: moves[region in a][region in b]. */
void pair_moves(const struct pair *pair, const uint8_t *regions_a, const uint8_t *regions_b,
                uint64_t moves[REGION_COUNT][REGION_COUNT]);

struct pair_overlap {
	uint64_t in_a, in_b, both; /* how many of the shared examples are selected in a, in b, in both */
};

/* Selects examples in each run by the rule, among the shared ones: the first `fraction` of them, or fewer if the rule
 * ranks fewer. Without `cuts`, the regions are cut by each run's own defaults for the shared examples. If a run lacks
 * the signals for the rule, the command ends. */
struct pair_overlap pair_select(const struct pair *pair, const struct selection_rule *rule,
                                const struct region_cuts *cuts, double fraction, uint64_t seed);

#endif
