/*
 * balanced.h: for the rules of `portolan select` that draw evenly from groups of examples, CCS (strata.h) and S2L
 * (trajectories.h): orders the examples such that each beginning of the order takes from the groups as evenly as their
 * sizes allow.
 *
 * The first n of the order are what Zheng et al. 2023 (CCS, algorithm 1) and Yang et al. 2024 (S2L, algorithm 1) draw
 * as a subset of n: the groups give the smallest first, each min(its size, what is left / groups left, rounded down).
 * That is one from every group that is not used up, round by round, the largest groups first where a round does not
 * come to its end.
 */
#ifndef BALANCED_H
#define BALANCED_H

#include "statistics/random.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Fills ranked[] with the first `limit` ≤ n examples of the order. groups[i] < group_count is the group of list[i], for
 * n examples. Within its group each example is drawn at random; with `random` NULL they stay in the order of `list`. Groups with fewer than `least` members become one
 * group, whose turn comes when all others are used up. Of groups of equal size the later one counts as the larger.
 */
void balanced_order(const uint32_t *list, const uint32_t *groups, size_t n, size_t group_count, size_t least,
                    struct random_state *random, size_t limit, uint32_t *ranked);

#endif
