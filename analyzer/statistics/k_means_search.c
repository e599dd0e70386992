/*
 * k_means_search.c: finds the nearest centres of some points in float32, and whether that is certain (k_means_search.h).
 *
 * Arithmetic in float32 gives |c|² − 2 x·c for each centre c, which is the squared distance of point x less |x|².
 * Products of some points with sixteen centres are summed side by side, in registers; so the centres are transposed
 * first. With D dimensions and the unit u = 2^-24 of float32, the rounding of the centre, of D products and of D sums
 * moves the result by no more than (D + 4) u (|c|² + 2 |x| |c|), to first order, and 2 |x| |c| ≤ |x|² + |c|². Twice that
 * is allowed for here: γ (2 |c|² + |x|²).
 *
 * As the bound holds in any case, this file alone is compiled so that a product and a sum may be rounded together, once.
 */
#include "k_means_search.h"

#include <portolan/widths.h>

#define PARTS 2u   /* vectors of centres that are, likewise */
#define WIDTH 8u   /* centres of a vector */
#define TINY 1e-30 /* more than what is lost where products are too small for float32 */

_Static_assert(PARTS *WIDTH == K_MEANS_LANES, "the centres are padded to what is worked on side by side");

typedef float floats __attribute__((vector_size(WIDTH * sizeof(float)), aligned(sizeof(float))));
typedef int32_t ints __attribute__((vector_size(WIDTH * sizeof(int32_t))));

/* The least and the second least of what the centres of each place in a vector came to so far. */
struct least {
	floats first, second;
	ints nearest; /* the number of the centre of `first` */
};

INLINE floats
k_means_choose(ints mask, floats yes, floats no)
{
	return (floats)(((ints)yes & mask) | ((ints)no & ~mask));
}

INLINE void
k_means_take(struct least *least, floats now, int32_t from)
{
	const ints numbers = {0, 1, 2, 3, 4, 5, 6, 7}, better = now < least->first;

	least->second = k_means_choose(now < least->second, now, least->second);
	least->second = k_means_choose(better, least->first, least->second);
	least->first = k_means_choose(better, now, least->first);
	least->nearest = ((numbers + from) & better) | (least->nearest & ~better);
}

/* Finds what is least over all places; returns the number of the nearest centre. */
INLINE size_t
k_means_join(const struct least *least, float *first, float *second)
{
	size_t nearest = 0;

	*first = *second = FLT_MAX;
	for (unsigned i = 0; i < WIDTH; i++) {
		float larger = least->first[i] < *first ? *first : least->first[i];

		if (least->first[i] < *first)
			nearest = (size_t)least->nearest[i];
		*first = least->first[i] < *first ? least->first[i] : *first;
		*second = larger < *second ? larger : *second;
		*second = least->second[i] < *second ? least->second[i] : *second;
	}
	return nearest;
}

/* |x|², summed in any order. */
INLINE float
k_means_square(const float *point, size_t dimensions)
{
	float sums[WIDTH] = {0};
	size_t d = 0;

	for (; d + WIDTH <= dimensions; d += WIDTH)
		for (unsigned i = 0; i < WIDTH; i++)
			sums[i] += point[d + i] * point[d + i];
	for (unsigned i = 0; d + i < dimensions; i++)
		sums[i] += point[d + i] * point[d + i];
	return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* Finds what is least of |c|² − 2 x·c for each point; squares[] gets their |x|². */
INLINE void
k_means_find_least(const float *turned, size_t width, size_t dimensions, const float *const points[K_MEANS_POINTS],
                   struct least least[K_MEANS_POINTS], float squares[K_MEANS_POINTS])
{
	for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
		least[p] = (struct least){.first = FLT_MAX + (floats){0}, .second = FLT_MAX + (floats){0}};
		squares[p] = k_means_square(points[p], dimensions);
	}
	for (size_t from = 0; from < width; from += K_MEANS_LANES) {
		const float *centres = turned + from;
		floats sums[K_MEANS_POINTS][PARTS];

		for (unsigned p = 0; p < K_MEANS_POINTS; p++)
			for (unsigned part = 0; part < PARTS; part++)
				sums[p][part] = *(const floats *)(centres + part * WIDTH);
		for (size_t d = 0; d < dimensions; d++) {
			centres += width;
			for (unsigned p = 0; p < K_MEANS_POINTS; p++)
				for (unsigned part = 0; part < PARTS; part++)
					sums[p][part] += points[p][d] * *(const floats *)(centres + part * WIDTH);
		}
		for (unsigned p = 0; p < K_MEANS_POINTS; p++)
			for (unsigned part = 0; part < PARTS; part++)
				k_means_take(&least[p], sums[p][part], (int32_t)(from + part * WIDTH));
	}
}

FOR_EACH_WIDTH unsigned
k_means_search(const float *turned, size_t clusters, size_t dimensions, const float *const points[K_MEANS_POINTS],
               uint32_t nearest[K_MEANS_POINTS])
{
	const double error = k_means_error(dimensions);
	struct least least[K_MEANS_POINTS];
	float squares[K_MEANS_POINTS];
	unsigned sure = 0;

	k_means_find_least(turned, K_MEANS_PADDED(clusters), dimensions, points, least, squares);
	for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
		float first, second;
		size_t near = k_means_join(&least[p], &first, &second);
		double margin = error * (4 * (double)turned[near] + 2 * (double)squares[p]) + TINY;

		nearest[p] = (uint32_t)near;
		sure |= (unsigned)(squares[p] < K_MEANS_LARGE && (double)second - (double)first > margin) << p;
	}
	return sure;
}
