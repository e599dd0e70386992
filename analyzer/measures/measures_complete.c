/*
 * measures_complete.c: the fast way of measures.c for complete blocks, in which every example has every epoch. Most
 * blocks are complete, and need no check per row.
 *
 * The loops of learning are plain ones over a constant number of rows, of which the compiler makes vector code
 * (widths.h); those of probabilities are written as vectors, for each width (measures_probabilities.h). Correct and
 * forgotten epochs are counted in bit planes (plane k has bit k of 64 numbers), eight words of them side by side.
 *
 * The operations and their order are those of measures.c for each row, without any contraction, so the results are the
 * same to the last bit.
 */
#include "measures_complete.h"

#include <portolan/widths.h>
#include "log_product.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WITH_WIDE
#include <immintrin.h>
#endif

#define TILE 64u         /* rows of a word of bits */
#define WORDS 8u         /* words that are worked on side by side */
#define EPOCHS_MOST 255u /* as PLANES_MOST bits hold */
#define PLANES_MOST 8u

struct complete {
	size_t epochs;
	double count; /* the number of epochs, for division */
	const float *gold_prob[EPOCHS_MOST];
	const uint64_t *correct[EPOCHS_MOST];
	double numbers[EPOCHS_MOST + 1]; /* the epochs' numbers, as doubles; the last is NaN, for none */
	double *const *out;
};

/* 512 numbers: bit b of planes[k][w] is bit k of number 64 w + b. */
struct numbers {
	uint64_t planes[PLANES_MOST][WORDS];
};

/* The state of 512 rows after some epochs. */
struct learning {
	struct numbers correct, forgotten, learned_at, since;
	uint64_t right[WORDS], learned[WORDS];
};

/* Adds one to each number whose bit is set. */
INLINE void
numbers_add(struct numbers *numbers, unsigned planes, const uint64_t bits[WORDS])
{
	uint64_t carry[WORDS];

	memcpy(carry, bits, sizeof(carry));
	for (unsigned k = 0; k < planes; k++)
		for (unsigned w = 0; w < WORDS; w++) {
			uint64_t both = numbers->planes[k][w] & carry[w];

			numbers->planes[k][w] ^= carry[w];
			carry[w] = both;
		}
}

/* Sets each number whose bit is set to `number`. */
INLINE void
numbers_set(struct numbers *numbers, unsigned planes, const uint64_t bits[WORDS], unsigned number)
{
	for (unsigned k = 0; k < planes; k++) {
		uint64_t bit = -(uint64_t)(number >> k & 1);

		for (unsigned w = 0; w < WORDS; w++)
			numbers->planes[k][w] = (numbers->planes[k][w] & ~bits[w]) | (bit & bits[w]);
	}
}

/* Reads the 64 numbers of word w, eight side by side. */
INLINE void
numbers_read(const struct numbers *numbers, unsigned planes, unsigned w, uint16_t to[TILE])
{
	typedef uint16_t eight __attribute__((vector_size(16)));
	const eight bits = {1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7};

	for (unsigned g = 0; g < TILE; g += 8) {
		eight read = {0};

		for (unsigned k = 0; k < planes; k++) {
			const eight plane = (eight){0} + (uint16_t)(numbers->planes[k][w] >> g);

			read |= (eight)((plane & bits) == bits) & (uint16_t)(1 << k);
		}
		memcpy(to + g, &read, sizeof(read));
	}
}

INLINE void
put_numbers(double *to, const uint16_t numbers[TILE])
{
	for (unsigned r = 0; r < TILE; r++)
		to[r] = numbers[r];
}

INLINE void
put_fractions(double *to, const uint16_t numbers[TILE], double count)
{
	for (unsigned r = 0; r < TILE; r++)
		to[r] = numbers[r] / count;
}

/* Writes for each row the number of its epoch; NaN where the bit of `none` is set. */
INLINE void
put_epochs(const struct complete *c, double *to, struct numbers epochs, unsigned planes, const uint64_t none[WORDS],
           unsigned words)
{
	uint16_t numbers[TILE];

	numbers_set(&epochs, planes, none, (unsigned)c->epochs);
	for (unsigned w = 0; w < words; w++) {
		numbers_read(&epochs, planes, w, numbers);
		for (unsigned r = 0; r < TILE; r++)
			to[w * TILE + r] = c->numbers[numbers[r]];
	}
}

INLINE void
put_learning(const struct complete *c, const struct learning *l, unsigned planes, size_t at, unsigned words)
{
	uint16_t numbers[TILE];
	double *const *out = c->out;

	for (unsigned w = 0; w < words && out[MEASURE_CORRECTNESS]; w++) {
		numbers_read(&l->correct, planes, w, numbers);
		put_fractions(out[MEASURE_CORRECTNESS] + at + w * TILE, numbers, c->count);
	}
	for (unsigned w = 0; w < words && out[MEASURE_FORGETTING_EVENTS]; w++) {
		numbers_read(&l->forgotten, planes, w, numbers);
		put_numbers(out[MEASURE_FORGETTING_EVENTS] + at + w * TILE, numbers);
	}
	for (unsigned w = 0; w < words && out[MEASURE_NEVER_LEARNED]; w++) {
		struct numbers never = {{{~l->learned[w]}}};

		numbers_read(&never, 1, 0, numbers);
		put_numbers(out[MEASURE_NEVER_LEARNED] + at + w * TILE, numbers);
	}
}

/* Fills, for each row, the epoch since which it has been right, or wrong, to the end; and the first epoch at which it
 * was right. */
INLINE void
put_times(const struct complete *c, const struct learning *l, unsigned planes, size_t at, unsigned words)
{
	uint64_t unlearned[WORDS], wrong[WORDS];
	double *const *out = c->out;

	for (unsigned w = 0; w < WORDS; w++) {
		unlearned[w] = ~l->learned[w];
		wrong[w] = ~l->right[w];
	}
	if (out[MEASURE_FIRST_LEARNED])
		put_epochs(c, out[MEASURE_FIRST_LEARNED] + at, l->learned_at, planes, unlearned, words);
	if (out[MEASURE_ALWAYS_RIGHT_AFTER])
		put_epochs(c, out[MEASURE_ALWAYS_RIGHT_AFTER] + at, l->since, planes, wrong, words);
	if (out[MEASURE_ALWAYS_WRONG_AFTER])
		put_epochs(c, out[MEASURE_ALWAYS_WRONG_AFTER] + at, l->since, planes, l->right, words);
}

/* Fills the measures of learning for `words` ≤ WORDS words of rows from row `at` on. */
INLINE void
learning(const struct complete *c, size_t at, unsigned words, unsigned planes, bool times)
{
	struct learning l = {0};

	for (size_t e = 0; e < c->epochs; e++) {
		uint64_t now[WORDS] = {0}, lost[WORDS], changed[WORDS], first[WORDS];

		memcpy(now, c->correct[e] + at / TILE, words * sizeof(*now));
		for (unsigned w = 0; w < WORDS; w++) {
			lost[w] = l.right[w] & ~now[w];
			changed[w] = l.right[w] ^ now[w];
			first[w] = now[w] & ~l.learned[w];
			l.right[w] = now[w];
			l.learned[w] |= now[w];
		}
		numbers_add(&l.correct, planes, now);
		numbers_add(&l.forgotten, planes, lost);
		if (times) {
			numbers_set(&l.learned_at, planes, first, (unsigned)e);
			numbers_set(&l.since, planes, changed, (unsigned)e);
		}
	}
	put_learning(c, &l, planes, at, words);
	if (times)
		put_times(c, &l, planes, at, words);
}

#define VECTORS 4 /* registers of sums that are held at a time */
#define AHEAD 128 /* rows */

#define WIDE(name) narrow_##name
#define LANES 2
#define WIDEN(from) ((narrow_doubles){(double)(from)[0], (double)(from)[1]})
#include "measures_probabilities.h"
#undef WIDE
#undef LANES
#undef WIDEN

#ifdef WITH_WIDE
#pragma GCC push_options
#pragma GCC target("avx2")
#define WIDE(name) avx2_##name
#define LANES 4
#define WIDEN(from) _mm256_cvtps_pd(_mm_loadu_ps(from))
#include "measures_probabilities.h"
#undef WIDE
#undef LANES
#undef WIDEN
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#define WIDE(name) avx512_##name
#define LANES 8
#define WIDEN(from) _mm512_cvtps_pd(_mm256_loadu_ps(from))
#include "measures_probabilities.h"
#undef WIDE
#undef LANES
#undef WIDEN
#pragma GCC pop_options
#endif

static void
probabilities(const struct complete *c, size_t rows)
{
#ifdef WITH_WIDE
	if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		avx512_probabilities(c, rows);
	else if (__builtin_cpu_supports("avx2"))
		avx2_probabilities(c, rows);
	else
#endif
		narrow_probabilities(c, rows);
}

/* Fills the measures of learning for whole words. Numbers up to `epochs` mostly take four planes, for which there is
 * code of its own. */
FOR_EACH_WIDTH static void
learning_all(const struct complete *c, size_t words, bool times)
{
	for (size_t w = 0; w < words; w += WORDS) {
		unsigned n = words - w < WORDS ? (unsigned)(words - w) : WORDS;

		if (c->epochs < 16)
			learning(c, w * TILE, n, 4, times);
		else
			learning(c, w * TILE, n, PLANES_MOST, times);
	}
}

uint32_t
measures_complete(const struct store_block *block, const uint32_t *epochs, double *const out[MEASURE_COUNT])
{
	struct complete complete;
	bool times = out[MEASURE_FIRST_LEARNED] || out[MEASURE_ALWAYS_RIGHT_AFTER] || out[MEASURE_ALWAYS_WRONG_AFTER];

	if (block->epoch_count > EPOCHS_MOST || block->epoch_count == 0)
		return 0;
	complete.epochs = block->epoch_count;
	complete.count = (double)complete.epochs;
	complete.out = out;
	for (size_t e = 0; e < complete.epochs; e++) {
		const struct store_values *columns = &block->columns[e * STORE_COLUMN_MAX];

		if (!columns[STORE_GOLD_PROB].complete || !columns[STORE_CORRECT].complete)
			return 0;
		complete.gold_prob[e] = columns[STORE_GOLD_PROB].values;
		complete.correct[e] = columns[STORE_CORRECT].values;
		complete.numbers[e] = epochs[e];
	}
	complete.numbers[complete.epochs] = NAN;
	probabilities(&complete, block->rows / TILE * TILE);
	if (times || out[MEASURE_CORRECTNESS] || out[MEASURE_FORGETTING_EVENTS] || out[MEASURE_NEVER_LEARNED])
		learning_all(&complete, block->rows / TILE, times);
	return block->rows / TILE * TILE;
}
