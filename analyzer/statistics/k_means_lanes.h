/*
 * k_means_lanes.h: the search of k_means_search.c, which includes this file once for each width of vector registers,
 * with
 *
 *     WIDE(name)       this width's name of a function or type
 *     LANES            floats in one register: 4, 8 or 16
 *     PLACES(away)     0 ^ away, 1 ^ away, … (LANES − 1) ^ away: the place that each one is swapped with
 *     WHERE_LESS(a, b, yes, no)    place by place: `yes` where a is less than b, else `no`
 *     LESSER(a, b), GREATER(a, b)  place by place: the lesser and the greater of a and b; where a is NaN, LESSER is b
 *
 * The sums of 6 points and 2 registers of centres are held in registers. The pragmas see to that: at -O2 GCC does not
 * unroll such loops by itself, and keeps arrays in memory.
 */
#define PARTS 2u /* registers of centres that are worked on side by side */

typedef float WIDE(floats) __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
#define FLOATS WIDE(floats)
#define SWAPPED(of, away) __builtin_shufflevector(of, of, PLACES((away) % LANES))

/* What the centres of each place in a vector came to so far. */
struct WIDE(least) {
	FLOATS first, second; /* the least, and the second least */
	FLOATS nearest;       /* the number of the centre of `first` */
};

/* NaN, which infinite products can add up to, is not taken: `nearest` is the number of a centre in any case. */
INLINE void
WIDE(take)(struct WIDE(least) * least, FLOATS now, FLOATS numbers)
{
	least->second = LESSER(GREATER(least->first, now), least->second);
	least->nearest = WHERE_LESS(now, least->first, numbers, least->nearest);
	least->first = LESSER(now, least->first);
}

#define JOIN(all, away) (all) = LESSER(all, SWAPPED(all, away))

/* The least of all places, which each place then has. */
INLINE FLOATS
WIDE(least_of_all)(FLOATS all)
{
	if (LANES > 8)
		JOIN(all, 8);
	if (LANES > 4)
		JOIN(all, 4);
	JOIN(all, 2);
	JOIN(all, 1);
	return all;
}

/* Finds what is least over all places. Several places may have the same least value. The lowest of their numbers is then
 * `nearest`, and `second` equals `first`. */
INLINE void
WIDE(join)(struct WIDE(least) * least)
{
	const FLOATS first = WIDE(least_of_all)(least->first);
	const FLOATS numbers = WHERE_LESS(first, least->first, FLT_MAX + (FLOATS){0}, least->nearest);
	const FLOATS nearest = WIDE(least_of_all)(numbers);

	least->second = WIDE(least_of_all)(WHERE_LESS(nearest, numbers, least->first, least->second));
	least->first = first;
	least->nearest = nearest;
}

/* |x|², summed in any order. */
INLINE float
WIDE(square)(const float *point, size_t dimensions)
{
	FLOATS sums = {0};
	floats fours = {0};
	size_t d = 0;

	for (; d + LANES <= dimensions; d += LANES)
		sums += *(const FLOATS *)(point + d) * *(const FLOATS *)(point + d);
	for (; d + 4 <= dimensions; d += 4)
		fours += *(const floats *)(point + d) * *(const floats *)(point + d);
	for (; d < dimensions; d++)
		fours[0] += point[d] * point[d];
	if (LANES > 8)
		sums += SWAPPED(sums, 8);
	if (LANES > 4)
		sums += SWAPPED(sums, 4);
	for (unsigned i = 0; i < 4; i++)
		fours[i] += sums[i];
	return (fours[0] + fours[1]) + (fours[2] + fours[3]);
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
			WIDE(take)(&least[p], sums[p][part], (FLOATS){PLACES(0)} + (float)(from + part * LANES));
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

		WIDE(join)(&least[p]);
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
#undef SWAPPED
#undef JOIN
#undef WIDE
#undef LANES
#undef PLACES
#undef WHERE_LESS
#undef LESSER
#undef GREATER
