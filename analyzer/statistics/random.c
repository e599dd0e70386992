/*
 * random.c: generates the analyzer's random numbers (random.h) by xoshiro256**, as its authors describe it.
 *
 * Everything is unsigned 64-bit arithmetic, so the sequence depends on the seed alone, and random selections and
 * sampled maps can be repeated. Any change here changes users' results, and needs a new major version.
 */
#include "random.h"

static uint64_t
random_rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static uint64_t
random_next_splitmix(uint64_t *x)
{
	uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
random_seed(struct random_state *state, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		state->word[i] = random_next_splitmix(&seed);
}

uint64_t
random_next(struct random_state *state)
{
	uint64_t *s = state->word;
	uint64_t result = random_rotate(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = random_rotate(s[3], 45);
	return result;
}

uint64_t
random_below(struct random_state *state, uint64_t bound)
{
	uint64_t uneven = -bound % bound; /* 2^64 mod bound: this many of the lowest values would come once too often */
	uint64_t value;

	do
		value = random_next(state);
	while (value < uneven);
	return value % bound;
}

void
random_sample(struct random_state *state, uint32_t *items, size_t n, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = i + (size_t)random_below(state, n - i);
		uint32_t item = items[j];

		items[j] = items[i];
		items[i] = item;
	}
}
