/*
 * association.h: how far two labels of the same examples go together, beside what they would if the second labels were
 * dealt out anew among the examples: a random permutation, both labels as frequent as they are. For the warning of runs
 * whose ids mean other examples. Pure; float64.
 */
#ifndef ASSOCIATION_H
#define ASSOCIATION_H

#include <stddef.h>
#include <stdint.h>

struct association_pair {
	uint64_t a, b; /* the two labels of one example */
};

/* A statistic, and its exact mean and variance over all permutations. */
struct association_statistic {
	double value, mean, variance;
};

struct association {
	struct association_statistic agree; /* how many examples have two equal labels */
	double agree_most;                  /* the most that can, with labels as frequent as they are */
	struct association_statistic
	        chi_square; /* of the whole table: whatever the labels are called; 0 without a table */
	double v;           /* Cramér's V less its bias: 0 (independent) to 1 (one label says the other) */
};

/* Of n pairs, which come back sorted. `scratch` has room for 2 n labels. All is 0 of fewer than 4 pairs, and where
 * either label is the same for all of them. O(n log n). */
struct association association_measure(struct association_pair *pairs, size_t n, uint64_t *scratch);

/* How many standard deviations of the permutations lie between `value` and the mean; 0 where the variance is 0. A
 * permutation comes so far above the mean, by `deviations` or more, in at most 1 of 1 + deviations² (Cantelli 1929),
 * whichever the distribution. */
double association_deviations(const struct association_statistic *statistic, double value);

#endif
