/*
 * k_means_lanes.h: the search of k_means_search.c, which includes this file once for each width of vector registers,
 * with
 *
 *     WIDE(name)       this width's name of a function or type
 *     LANES            floats in one register: 4, 8 or 16
 *     PLACES(away)     0 ^ away, 1 ^ away, … (LANES − 1) ^ away: the place that is so far away from each
 *
 * The sums of 6 points and 2 registers of centres are held in registers. The pragmas see to that: at -O2 GCC does not
 * unroll such loops by itself, and keeps arrays in memory.
 */
#define PARTS 2u /* registers of centres that are worked on side by side */

typedef float WIDE(floats) __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t WIDE(ints) __attribute__((vector_size(LANES * sizeof(int32_t))));
#define FLOATS WIDE(floats)
#define INTS WIDE(ints)
#define SWAPPED(of, away) __builtin_shufflevector(of, of, PLACES((away) % LANES))

/* The least and the second least of what the centres of each place in a vector came to so far. */
struct WIDE(least) {
	FLOATS first, second;
	INTS nearest; /* the number of the centre of `first` */
};

INLINE FLOATS
WIDE(choose)(INTS mask, FLOATS yes, FLOATS no)
{
	return (FLOATS)(((INTS)yes & mask) | ((INTS)no & ~mask));
}

INLINE void
WIDE(take)(struct WIDE(least) * least, FLOATS now, int32_t from)
{
	const INTS better = now < least->first;

	least->second = WIDE(choose)(now < least->second, now, least->second);
	least->second = WIDE(choose)(better, least->first, least->second);
	least->first = WIDE(choose)(better, now, least->first);
	least->nearest = (((INTS){PLACES(0)} + from) & better) | (least->nearest & ~better);
}

/* Joins each place with another one. Of two that are equally near, either. */
INLINE void
WIDE(join)(struct WIDE(least) * least, FLOATS first, FLOATS second, INTS nearest)
{
	const INTS better = first < least->first;
	const FLOATS larger = WIDE(choose)(better, least->first, first);

	least->second = WIDE(choose)(second < least->second, second, least->second);
	least->second = WIDE(choose)(larger < least->second, larger, least->second);
	least->first = WIDE(choose)(better, first, least->first);
	least->nearest = (nearest & better) | (least->nearest & ~better);
}

#define JOIN(least, away)                                                                                              \
	WIDE(join)                                                                                                     \
	(least, SWAPPED((least)->first, away), SWAPPED((least)->second, away), SWAPPED((least)->nearest, away))

/* Finds what is least over all places, which then each place has. */
INLINE void
WIDE(join_all)(struct WIDE(least) * least)
{
	if (LANES > 8)
		JOIN(least, 8);
	if (LANES > 4)
		JOIN(least, 4);
	JOIN(least, 2);
	JOIN(least, 1);
}

/* |x|², summed in any order. */
INLINE float
WIDE(square)(const float *point, size_t dimensions)
{
	FLOATS sums = {0};
	float sum = 0;
	size_t d = 0;

	for (; d + LANES <= dimensions; d += LANES)
		sums += *(const FLOATS *)(point + d) * *(const FLOATS *)(point + d);
	for (; d < dimensions; d++)
		sum += point[d] * point[d];
	for (unsigned i = 0; i < LANES; i += 4)
		sum += (sums[i] + sums[i + 1]) + (sums[i + 2] + sums[i + 3]);
	return sum;
}

/* Takes into account for each point the centres from `from` on, `parts` registers of them. */
INLINE void
WIDE(take_centres)(const float *turned, size_t width, size_t from, unsigned parts, size_t dimensions,
                   const float *const points[K_MEANS_POINTS], struct WIDE(least) least[K_MEANS_POINTS])
{
	const float *centres = turned + from;
	FLOATS sums[K_MEANS_POINTS][PARTS];

#pragma GCC unroll 6
	for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
#pragma GCC unroll 2
		for (unsigned part = 0; part < parts; part++)
			sums[p][part] = *(const FLOATS *)(centres + part * LANES);
	}
	for (size_t d = 0; d < dimensions; d++) {
		centres += width;
#pragma GCC unroll 6
		for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
#pragma GCC unroll 2
			for (unsigned part = 0; part < parts; part++)
				sums[p][part] += points[p][d] * *(const FLOATS *)(centres + part * LANES);
		}
	}
#pragma GCC unroll 6
	for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
#pragma GCC unroll 2
		for (unsigned part = 0; part < parts; part++)
			WIDE(take)(&least[p], sums[p][part], (int32_t)(from + part * LANES));
	}
}

/* Finds what is least of |c|² − 2 x·c for each point. */
INLINE void
WIDE(find_least)(const float *turned, size_t width, size_t dimensions, const float *const points[K_MEANS_POINTS],
                 struct WIDE(least) least[K_MEANS_POINTS])
{
	size_t from = 0;

	for (unsigned p = 0; p < K_MEANS_POINTS; p++)
		least[p] = (struct WIDE(least)){.first = FLT_MAX + (FLOATS){0}, .second = FLT_MAX + (FLOATS){0}};
	for (; from + PARTS * LANES <= width; from += PARTS * LANES)
		WIDE(take_centres)(turned, width, from, PARTS, dimensions, points, least);
	if (from < width)
		WIDE(take_centres)(turned, width, from, 1, dimensions, points, least);
}

static unsigned
WIDE(search)(const float *turned, size_t clusters, size_t dimensions, const float *const points[K_MEANS_POINTS],
             uint32_t nearest[K_MEANS_POINTS])
{
	const double error = k_means_error(dimensions);
	struct WIDE(least) least[K_MEANS_POINTS];
	unsigned sure = 0;

	WIDE(find_least)(turned, K_MEANS_PADDED(clusters), dimensions, points, least);
	for (unsigned p = 0; p < K_MEANS_POINTS; p++) {
		const float square = WIDE(square)(points[p], dimensions);
		double margin;

		WIDE(join_all)(&least[p]);
		nearest[p] = (uint32_t)least[p].nearest[0];
		margin = error * (4 * (double)turned[nearest[p]] + 2 * (double)square) + TINY;
		sure |= (unsigned)(square < K_MEANS_LARGE &&
		                   (double)least[p].second[0] - (double)least[p].first[0] > margin)
		        << p;
	}
	return sure;
}

#undef PARTS
#undef FLOATS
#undef INTS
#undef SWAPPED
#undef JOIN
