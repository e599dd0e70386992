/*
 * k_means.h: clusters points by k-means (Lloyd's algorithm, Lloyd 1982), starting from centres that the caller gives.
 * For the S2L rule of `portolan select`, which clusters examples by their losses. Pure: the caller brings the memory.
 */
#ifndef K_MEANS_H
#define K_MEANS_H

#include "k_means_search.h"

struct k_means {
	size_t dimensions, clusters;
	double *centres; /* clusters × dimensions */
	float *turned;   /* room for (dimensions + 1) × K_MEANS_PADDED(clusters) */
	size_t *sizes;   /* room for `clusters` */
	unsigned lanes;  /* of the vectors: see k_means_search_by() */
};

/* Sets labels[i] to the number of the centre that is nearest to point i, the lowest of equal ones. Point i is row
 * rows[i] of `matrix`, which lies row by row and is finite. Distances are Euclidean, summed in float64 in a fixed
 * order. Returns how many labels changed. */
size_t k_means_assign(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, uint32_t *labels);

/* The sum of the squared distances of the points from the centres that `labels` says. */
double k_means_squares(const struct k_means *means, const float *matrix, const uint32_t *rows, size_t n,
                       const uint32_t *labels);

/* Moves each centre to the mean of the points nearest to it, again and again, until no label changes, `times` times at
 * most. A centre without points stays. `labels` has room for n. */
void k_means_fit(struct k_means *means, const float *matrix, const uint32_t *rows, size_t n, unsigned times,
                 uint32_t *labels);

#endif
