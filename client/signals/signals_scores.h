/*
 * signals_scores.h: the loops of signals.c that read scores in the caller's type; included by signals_lanes.h with
 *
 *     REAL, INTEGER   the type of the scores, and integers as wide
 *     REAL_MAX        the largest finite one
 *     REALS           how many fill a register
 *     SCORES(name)    this type's and this kind of processor's name of a function
 *     PEAK            struct peak_f32 or struct peak_f64
 *
 * "x > top ? x : top" keeps `top` when x is NaN: such lanes are marked bad, and their values do not matter.
 */
#define EACH_REAL for (unsigned j = 0; j < REALS; j++)

KERNEL void
SCORES(peak_add)(struct PEAK *peak, const REAL *scores, size_t steps, const struct seen *seen)
{
	for (size_t lane = 0; lane < LANES; lane += REALS) {
		REAL top[REALS], other[REALS];
		INTEGER predicted[REALS], bad[REALS], index[REALS], gold[REALS];

		HIDE(lane);
		EACH_REAL
		{
			top[j] = peak->top[lane + j];
			other[j] = peak->other[lane + j];
			predicted[j] = peak->predicted[lane + j];
			bad[j] = peak->bad[lane + j];
			index[j] = seen->first[lane + j];
			gold[j] = seen->gold[lane + j];
		}
		for (size_t step = 0; step < steps; step++)
			EACH_REAL
			{
				REAL x = scores[step * LANES + lane + j];
				REAL not_gold = index[j] == gold[j] ? (REAL)-INFINITY : x;

				predicted[j] = x > top[j] ? index[j] : predicted[j];
				top[j] = x > top[j] ? x : top[j];
				other[j] = not_gold > other[j] ? not_gold : other[j];
				bad[j] |= !(x <= REAL_MAX);
				index[j] += seen->apart;
			}
		EACH_REAL
		{
			peak->top[lane + j] = top[j];
			peak->other[lane + j] = other[j];
			peak->predicted[lane + j] = (int32_t)predicted[j];
			peak->bad[lane + j] = (int32_t)bad[j];
		}
	}
}

/* Computes how far each score lies below the largest one, as float32. The distance is cut where e^x is 0. */
KERNEL void
SCORES(below)(float *restrict below, const REAL *restrict scores, size_t steps, const struct PEAK *restrict peak)
{
	for (size_t lane = 0; lane < LANES; lane += REALS) {
		REAL top[REALS];

		HIDE(lane);
		EACH_REAL
		top[j] = peak->top[lane + j];
		for (size_t step = 0; step < steps; step++)
			EACH_REAL
			{
				REAL x = scores[step * LANES + lane + j] - top[j];

				below[step * LANES + lane + j] = (float)(x > LEAST_BELOW ? x : LEAST_BELOW);
			}
	}
}

#undef EACH_REAL
#undef REAL
#undef INTEGER
#undef REAL_MAX
#undef REALS
#undef SCORES
#undef PEAK
