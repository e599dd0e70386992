/* training.c: draws at random the examples on which each classifier of a phase of AFLite is trained, for filter.c. Each
 * training set has a random generator of its own, so any thread can draw any set at any time. */
#include "training.h"

#include "die/memory.h"
#include "statistics/random.h"

#include <stdlib.h>
#include <string.h>

#define MISFITS_MOST 64

size_t
training_bytes(size_t count, size_t rows, size_t classes)
{
	return count * ((rows + 63) / 64 * sizeof(uint64_t) + 2 * sizeof(uint32_t) + classes * 3);
}

void
training_init(struct training *training, size_t count, size_t rows, size_t classes)
{
	*training = (struct training){.count = count, .classes = classes};
	training_resize(training, rows);
	training->bits = memory_new(count * training->words, sizeof(*training->bits));
	training->sizes = memory_new(count, sizeof(*training->sizes));
	training->present = memory_new(count, sizeof(*training->present));
	training->slots = memory_new(count * classes, sizeof(*training->slots));
	training->absent = memory_new(count * classes, sizeof(*training->absent));
}

void
training_free(struct training *training)
{
	free(training->bits);
	free(training->sizes);
	free(training->present);
	free(training->slots);
	free(training->absent);
	*training = (struct training){0};
}

void
training_resize(struct training *training, size_t rows)
{
	training->rows = rows;
	training->words = (rows + 63) / 64;
}

void
training_seed(struct random_state *random, uint64_t seed, uint64_t phase, uint64_t set)
{
	random_seed(random, seed + ((phase << 20) + set + 1) * UINT64_C(0xd1342543de82ef95));
}

void
training_draw(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
              const uint32_t *by_rank)
{
	uint64_t *bits = training->bits + set * training->words;
	size_t n = training->rows, left = size > n / 2 ? n - size : size;
	struct random_state random;

	training_seed(&random, seed, phase, set);
	memset(bits, 0, training->words * sizeof(*bits));
	while (left > 0) {
		uint32_t row = by_rank[random_below(&random, n)];
		uint64_t bit = UINT64_C(1) << row % 64;

		left -= !(bits[row / 64] & bit);
		bits[row / 64] |= bit;
	}
	if (size > n / 2) {
		for (size_t w = 0; w < training->words; w++)
			bits[w] = ~bits[w];
		if (n % 64)
			bits[training->words - 1] &= (UINT64_C(1) << n % 64) - 1;
	}
	training->sizes[set] = (uint32_t)size;
}

void
training_draw_groups(struct training *training, size_t set, uint64_t seed, uint64_t phase, size_t size,
                     const uint32_t *group, const uint32_t *members, uint32_t groups, uint32_t *order, uint8_t *chosen)
{
	uint64_t *bits = training->bits + set * training->words;
	unsigned misfits = 0;
	struct random_state random;
	size_t taken = 0;

	training_seed(&random, seed, phase, set);
	memset(bits, 0, training->words * sizeof(*bits));
	for (uint32_t g = 0; g < groups; g++) {
		order[g] = g;
		chosen[g] = 0;
	}
	for (uint32_t i = 0; i < groups && taken < size && misfits < MISFITS_MOST; i++) {
		random_sample(&random, order + i, groups - i, 1);
		if (members[order[i]] == 0)
			continue;
		if (members[order[i]] > size - taken) {
			misfits += taken > 0;
			continue;
		}
		misfits = 0;
		chosen[order[i]] = 1;
		taken += members[order[i]];
	}
	for (size_t row = 0; row < training->rows; row++)
		bits[row / 64] |= (uint64_t)chosen[group[row]] << row % 64;
	training->sizes[set] = (uint32_t)taken;
}

void
training_survey(struct training *training, size_t set, const uint16_t *labels, uint32_t *counts)
{
	const uint64_t *bits = training->bits + set * training->words;
	uint16_t *slots = training->slots + set * training->classes;
	uint8_t *absent = training->absent + set * training->classes;
	size_t first = 0;

	memset(counts, 0, training->classes * sizeof(*counts));
	for (size_t w = 0; w < training->words; w++)
		for (uint64_t word = bits[w]; word; word &= word - 1)
			counts[labels[w * 64 + (size_t)__builtin_ctzll(word)]]++;
	while (first + 1 < training->classes && counts[first] == 0)
		first++;
	training->present[set] = 0;
	for (size_t c = 0; c < training->classes; c++) {
		size_t slot = c == first ? 0 : c == 0 ? first : c;

		slots[c] = (uint16_t)slot;
		absent[slot] = counts[c] == 0;
		training->present[set] += counts[c] > 0;
	}
}
