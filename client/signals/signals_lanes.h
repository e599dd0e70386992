/*
 * signals_lanes.h: the loops of signals.c over LANES lanes; included there once for each kind of processor, with
 *
 *     KIND(name)   this kind's name of a function
 *     KERNEL       how its functions are declared
 *     FLOATS       floats in one register
 *
 * As many lanes as a register holds go through all steps before the next lanes do. The loops over them have no branch
 * and a constant length, so each becomes one instruction, and the sums stay in registers. Every lane adds the same
 * numbers in the same order, without contraction, so all kinds give the same bits.
 */
#define EACH for (unsigned j = 0; j < FLOATS; j++)

#define REAL float
#define INTEGER int32_t
#define REAL_MAX FLT_MAX
#define REALS FLOATS
#define SCORES(name) KIND(name##_f32)
#define PEAK peak_f32
#include "signals_scores.h"

#define REAL double
#define INTEGER int64_t
#define REAL_MAX DBL_MAX
#define REALS (FLOATS / 2)
#define SCORES(name) KIND(name##_f64)
#define PEAK peak_f64
#include "signals_scores.h"

/* Adds up the exponentials, relative to the largest one. That one itself, which is 1, is left out of `rest`. */
KERNEL void
KIND(logits_add)(struct sums *restrict sums, const float *restrict below, size_t steps,
                 const struct seen *restrict seen)
{
	for (size_t lane = 0; lane < LANES; lane += FLOATS) {
		int32_t index[FLOATS], gold[FLOATS], predicted[FLOATS];

		HIDE(lane);
		EACH
		{
			index[j] = seen->first[lane + j];
			gold[j] = seen->gold[lane + j];
			predicted[j] = seen->predicted[lane + j];
		}
		for (size_t step = 0; step < steps;) {
			size_t end = steps - step > FOLD_STEPS ? step + FOLD_STEPS : steps;
			float rest[FLOATS] = {0}, other_sq[FLOATS] = {0}, weighted[FLOATS] = {0};

			for (; step < end; step++)
				EACH
				{
					float x = below[step * LANES + lane + j], e = exp_nonpositive(x);
					float square = e > 0x1p-62f ? e * e : 0.0f; /* so that no square is subnormal */

					rest[j] += index[j] == predicted[j] ? 0.0f : e;
					other_sq[j] += index[j] == gold[j] ? 0.0f : square;
					weighted[j] -= x * e;
					index[j] += seen->apart;
				}
			EACH
			{
				sums->rest[lane + j] += (double)rest[j];
				sums->other_sq[lane + j] += (double)other_sq[j];
				sums->weighted[lane + j] += (double)weighted[j];
			}
		}
	}
}

#if FLOATS < 16 /* compiled for two of the three kinds, as the library should stay small */
/* Widens WIDENED scores of half precision. A float16 has 5 bits of exponent, with a bias of 15 instead of 127. If it is
 * subnormal, its bits are added to 2^-14, which is then subtracted: read as a subnormal float32, it could become 0, as
 * the thread may be set to treat these as 0. */
KERNEL void
KIND(widen)(float *restrict wide, const uint16_t *restrict half, bool is_bfloat)
{
	if (is_bfloat) {
		for (unsigned j = 0; j < WIDENED; j++)
			wide[j] = float_from_bits((uint32_t)half[j] << 16);
		return;
	}
	for (unsigned j = 0; j < WIDENED; j++) {
		uint32_t moved = (uint32_t)(half[j] & 0x7fff) << 13;
		uint32_t small = float_bits(float_from_bits(moved + 0x38800000) - 0x1p-14f);
		uint32_t finite = moved < 0x00800000 ? small : moved + 0x38000000;

		finite = moved >= 0x0f800000 ? moved | 0x7f800000 : finite; /* infinity, NaN */
		wide[j] = float_from_bits(finite | (uint32_t)(half[j] & 0x8000) << 16);
	}
}
#define WIDEN KIND(widen)
#else
#define WIDEN avx2_widen
#endif

static const struct signals_kernels KIND(kernels) = {
        KIND(peak_add_f32), KIND(below_f32), KIND(peak_add_f64), KIND(below_f64), KIND(logits_add), WIDEN,
};

#undef EACH
#undef KIND
#undef KERNEL
#undef FLOATS
#undef WIDEN
