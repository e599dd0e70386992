/* sample.c: draws the same sample of places each time, for the live page, which shows it in place of too many points. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define LOT_HALF 65536u /* values that the upper 16 bits of a lot can have, and the lower */

/* The lot of a place: a number that looks random, but is always the same for this place. A sample consists of the
 * places with the smallest lots. So a smaller sample has places of the larger one only, and a sample of a part of the
 * map keeps the places that were drawn there. */
static uint32_t
sample_lot(uint32_t place)
{
	uint64_t mixed = (place + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(mixed >> 32);
}

/* counts[] has how many values lie in each bucket, by ascending value. Returns the bucket that holds the *k-th smallest
 * value (from 0); *k becomes the rank of that value within the bucket. */
static uint32_t
sample_bucket(const uint32_t *counts, size_t *k)
{
	uint32_t bucket = 0;

	for (; *k >= counts[bucket]; bucket++)
		*k -= counts[bucket];
	return bucket;
}

/* To find the largest lot to keep, counts lots by their upper 16 bits, then by their lower 16 bits. */
bool
sample_places(uint32_t *places, size_t n, size_t most)
{
	uint32_t *counts = calloc(LOT_HALF, sizeof(*counts)), last;
	size_t ties = most - 1, kept = 0;

	if (!counts)
		return false;
	for (size_t i = 0; i < n; i++)
		counts[sample_lot(places[i]) / LOT_HALF]++;
	last = sample_bucket(counts, &ties) * LOT_HALF;
	memset(counts, 0, LOT_HALF * sizeof(*counts));
	for (size_t i = 0; i < n; i++) {
		uint32_t lot = sample_lot(places[i]);

		if (lot / LOT_HALF == last / LOT_HALF)
			counts[lot % LOT_HALF]++;
	}
	last += sample_bucket(counts, &ties);
	free(counts);
	ties++; /* how many places with the largest lot to keep are kept */
	for (size_t i = 0; i < n; i++) {
		uint32_t lot = sample_lot(places[i]);

		if (lot < last || (lot == last && ties > 0)) {
			ties -= lot == last;
			places[kept++] = places[i];
		}
	}
	return true;
}
