/*
 * trajectories.h: a subset that covers the ways in which losses went: S2L (Yang et al. 2024, algorithm 1).
 *
 * Examples are clustered by their losses, −ln p(gold), epoch by epoch; the clusters then give as evenly as they can (see
 * balanced.h), those of one or two examples only when all others are used up. As the published code has it, the
 * clustering is k-means, 20 times over at most 256 examples a cluster, drawn at random; all others go to the nearest centre.
 */
#ifndef TRAJECTORIES_H
#define TRAJECTORIES_H

#include "selection.h"

#define TRAJECTORIES_CLUSTERS 100 /* of the published settings */

/* As selection_rank_first(), with source->clusters. Where an example was not observed its loss is that of the epoch before,
 * or else after; a probability of 0 counts as the smallest normal float32. Memory: 4 bytes an example and epoch. */
int trajectories_rank(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
                      struct portolan_error *error);

#endif
