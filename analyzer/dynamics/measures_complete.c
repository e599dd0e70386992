/*
 * measures_complete.c: most runs have no gaps, and then nothing has to be asked of a row.
 *
 * Eight rows at a time: their probabilities are made doubles once, and the passes for mean and deviation go over those,
 * in the first-level cache. Counts and epochs of 64 rows are kept in bit planes (plane k has bit k of 64 numbers), and
 * read back eight at a time: a byte of a plane becomes eight bytes, and these are numbers below 256, which limits the
 * epochs.
 *
 * The same source is compiled for wider registers, chosen when the program runs. The operations and their order are
 * those of measures.c for each row, without any contraction, so the results are the same to the last bit.
 */
#include "measures_complete.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#define WITH_WIDE 1
#endif

#define LANES 8u
#define TILE 64u
#define EPOCHS_MOST 255u

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));

struct planes {
	uint64_t bits[8];
};

struct complete {
	size_t epochs;
	unsigned planes;                 /* that numbers up to `epochs` take */
	double count;                    /* `epochs` */
	double numbers[EPOCHS_MOST + 1]; /* of the epochs; NaN: none */
	double fractions[EPOCHS_MOST + 1];
	const float *gold_prob[EPOCHS_MOST];
	const uint64_t *correct[EPOCHS_MOST];
	double *const *out;
};

/* Bit i of a byte as byte i of a word. */
static inline uint64_t
spread(uint64_t byte)
{
	byte = (byte | byte << 28) & UINT64_C(0x0000000f0000000f);
	byte = (byte | byte << 14) & UINT64_C(0x0003000300030003);
	return (byte | byte << 7) & UINT64_C(0x0101010101010101);
}

/* Adds one where the bit is set. */
static inline __attribute__((always_inline)) void
planes_add(struct planes *planes, unsigned count, uint64_t bits)
{
	for (unsigned k = 0; k < count; k++) {
		uint64_t carry = planes->bits[k] & bits;

		planes->bits[k] ^= bits;
		bits = carry;
	}
}

/* The number becomes `number` where the bit is set. */
static inline __attribute__((always_inline)) void
planes_set(struct planes *planes, unsigned count, uint64_t bits, unsigned number)
{
	for (unsigned k = 0; k < count; k++)
		planes->bits[k] = (planes->bits[k] & ~bits) | (number >> k & 1 ? bits : 0);
}

#define KERNEL(name) plain_##name
#include "measures_kernel.h"
#undef KERNEL

#ifdef WITH_WIDE
#pragma GCC push_options
#pragma GCC target("avx2")
#define KERNEL(name) avx2_##name
#include "measures_kernel.h"
#undef KERNEL
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#define KERNEL(name) avx512_##name
#include "measures_kernel.h"
#undef KERNEL
#pragma GCC pop_options
#endif

static void
dispatch(const struct complete *c, uint32_t rows, bool learning)
{
#ifdef WITH_WIDE
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
		avx512_all(c, rows, learning);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		avx2_all(c, rows, learning);
		return;
	}
#endif
	plain_all(c, rows, learning);
}

uint32_t
measures_complete(const struct store_block *block, const uint32_t *epochs, double *const out[MEASURE_COUNT])
{
	struct complete complete;
	bool learning = out[MEASURE_CORRECTNESS] || out[MEASURE_FORGETTING_EVENTS] || out[MEASURE_NEVER_LEARNED] ||
	                out[MEASURE_FIRST_LEARNED] || out[MEASURE_ALWAYS_RIGHT_AFTER] ||
	                out[MEASURE_ALWAYS_WRONG_AFTER];

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
		complete.fractions[e] = (double)e / complete.count;
	}
	complete.numbers[complete.epochs] = NAN;
	complete.fractions[complete.epochs] = 1;
	dispatch(&complete, block->rows, learning);
	return block->rows / TILE * TILE;
}
