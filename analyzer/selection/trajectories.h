/*
 * trajectories.h: a subset that covers the different courses of losses: S2L (Yang et al. 2024, algorithm 1).
 *
 * Examples are clustered by their losses, −ln p(gold), epoch by epoch; examples are then taken from the clusters as
 * evenly as possible (see balanced.h), from clusters of one or two examples only when all others are used up. As in the
 * published code, the clustering is k-means, 20 times over at most 256 examples per cluster, drawn at random; all other
 * examples go to the nearest centre.
 */
#ifndef TRAJECTORIES_H
#define TRAJECTORIES_H

#include "selection.h"

#define TRAJECTORIES_CLUSTERS 100 /* of the published settings */

/* As selection_rank_first(), with source->clusters. At an epoch without an observation, the loss is that of the epoch
 * before, or else after. A probability of 0 counts as the smallest normal float32. Memory: 4 bytes an example and
 * epoch. */
int trajectories_rank(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
                      struct portolan_error *error);

#endif
