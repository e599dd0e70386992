/*
 * k_means_search.h: for k_means.c alone: finds the nearest centre in float32, which is nearly always certain to be that
 * which float64 finds.
 */
#ifndef K_MEANS_SEARCH_H
#define K_MEANS_SEARCH_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#define K_MEANS_LANES 16u /* the number of centres is padded to a multiple of this */
#define K_MEANS_PADDED(clusters) (((clusters) + K_MEANS_LANES - 1) / K_MEANS_LANES * K_MEANS_LANES)
#define K_MEANS_POINTS 6u                 /* points that are worked on side by side, as k_means_lanes.h says, too */
#define K_MEANS_LARGE 1e30f               /* squares up to this are added and multiplied without reaching infinity */
#define K_MEANS_MOST (1u << FLT_MANT_DIG) /* centres: up to this, float32 holds the number of each */

/* γ: see the head of k_means_search.c. */
static inline double
k_means_error(size_t dimensions)
{
	return ((double)dimensions + 4) * (double)FLT_EPSILON; /* FLT_EPSILON is 2 u */
}

/* Sets nearest[p] to the number of the centre that is nearest to points[p]. Bit p of the answer: no other centre is as
 * near, or nearer, in float64. turned[] is (dimensions + 1) × K_MEANS_PADDED(clusters): the least that each |c|² can be,
 * (1 − 2 γ) |c|², and then −2 c, dimension by dimension. */
typedef unsigned k_means_search(const float *turned, size_t clusters, size_t dimensions,
                                const float *const points[K_MEANS_POINTS], uint32_t nearest[K_MEANS_POINTS]);

/* The search by vectors of `lanes` floats: 4, 8 or 16; 0: of as many as this processor has registers for. NULL: it has
 * none for so many. */
k_means_search *k_means_search_by(unsigned lanes);

#endif
