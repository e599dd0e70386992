/*
 * trajectories.h: for the S2L rule of `portolan select`: chooses a subset that covers the different courses that
 * examples' losses take over the epochs (Yang et al. 2024, algorithm 1).
 *
 * Examples are clustered by their losses, −ln p(gold), epoch by epoch; examples are then taken from the clusters as
 * evenly as possible (see balanced.h), from clusters of one or two examples only when all others are used up. As in the
 * published code, the clustering is k-means, 20 times over at most 256 examples per cluster, drawn at random; all other
 * examples go to the nearest centre. Their call of faiss starts once (nredo is 1); of several starts, each from other
 * centres, the one whose sum of squared distances over the examples drawn is the least is kept, the first of those
 * within a billionth of each other.
 *
 * If the data have several sources, each is clustered for itself, and gives its own order; the size is shared out among
 * the sources as it is among clusters: their code does so (schedules/s2l.py, initialize_labeled_data()).
 */
#ifndef TRAJECTORIES_H
#define TRAJECTORIES_H

#include "measures/dynamics.h"

#define TRAJECTORIES_CLUSTERS 100 /* the number in the published settings */

struct trajectories {
	const struct dynamics *dynamics;
	const uint32_t *list; /* dense indices by ascending id */
	size_t n;
	size_t clusters, starts; /* at least 1 */
	uint64_t seed;
	const uint32_t *sources; /* by dense index; NULL: there is one source */
	size_t source_count;
};

/* Fills ranked[] with the first `limit` examples at most, and returns how many there are. The losses are those of
 * loss_curves.h. Memory: some 16 bytes for each example, and 4 bytes an epoch for each example drawn; with sources, for
 * each example. */
size_t trajectories_rank(const struct trajectories *trajectories, size_t limit, uint32_t *ranked);

#endif
