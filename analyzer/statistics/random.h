/*
 * random.h: the random numbers of all commands that draw or shuffle: the analyzer's only source of chance. Seeded, so a
 * result repeats on every machine.
 *
 * xoshiro256** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021), its
 * state filled from the seed by splitmix64 (Steele, Lea and Flood, OOPSLA 2014). Not for secrets.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_state {
	uint64_t word[4];
};

void random_seed(struct random_state *state, uint64_t seed);
uint64_t random_next(struct random_state *state);

/* Uniform in 0 … bound−1, without bias; bound ≥ 1. */
uint64_t random_below(struct random_state *state, uint64_t bound);

/* Shuffles so that the first `count` of the n items are a uniformly drawn sample, in random order (Fisher and Yates);
 * count ≤ n. */
void random_sample(struct random_state *state, uint32_t *items, size_t n, size_t count);

#endif
