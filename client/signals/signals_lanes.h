/*
 * signals_lanes.h: the inner loops of signals.c, included once with REAL float and once with REAL double.
 *
 * A lane is either one row (few classes) or every 64th class of one row (many): `index` says which class a lane looks
 * at in this step, and `gold` which one is gold in its row. Every loop runs over all lanes without a branch. "x > top ?
 * x : top" keeps `top` when x is NaN: such lanes are marked bad, and their values do not matter.
 */

struct NAME(peak) {
	REAL top[LANES], gold[LANES], other[LANES]; /* largest score; the gold one; the largest besides it */
	int32_t predicted[LANES], bad[LANES];
};

static void
NAME(peak_init)(struct NAME(peak) * peak)
{
	for (int j = 0; j < LANES; j++) {
		peak->top[j] = peak->gold[j] = peak->other[j] = (REAL)-INFINITY;
		peak->predicted[j] = INT32_MAX; /* no class: ties between lanes go to one that saw something */
		peak->bad[j] = 0;
	}
}

/* Looks at one score per lane. Written so (two loops, a mask) that the compiler makes no branches of it. */
LOOP
NAME(peak_add)(struct NAME(peak) *restrict peak, const REAL *restrict z, const int32_t *restrict index,
               const int32_t *restrict gold)
{
	for (int j = 0; j < LANES; j++) {
		int32_t larger = -(int32_t)(z[j] > peak->top[j]);

		peak->predicted[j] = (index[j] & larger) | (peak->predicted[j] & ~larger);
	}
	for (int j = 0; j < LANES; j++) {
		REAL x = z[j], top = peak->top[j], other = peak->other[j], at_gold = peak->gold[j];
		REAL not_gold = index[j] == gold[j] ? (REAL)-INFINITY : x;

		peak->top[j] = x > top ? x : top;
		peak->other[j] = not_gold > other ? not_gold : other;
		peak->gold[j] = index[j] == gold[j] ? x : at_gold;
		peak->bad[j] |= !(x <= REAL_MAX);
	}
}

/* Lanes that shared one row: all of them get what holds for the row. */
static void
NAME(peak_merge)(struct NAME(peak) * peak)
{
	REAL top = peak->top[0], gold = peak->gold[0], other = peak->other[0];
	int32_t predicted = peak->predicted[0], bad = peak->bad[0];

	for (int j = 1; j < LANES; j++) {
		if (peak->top[j] > top || (peak->top[j] == top && peak->predicted[j] < predicted))
			predicted = peak->predicted[j];
		top = peak->top[j] > top ? peak->top[j] : top;
		gold = peak->gold[j] > gold ? peak->gold[j] : gold;
		other = peak->other[j] > other ? peak->other[j] : other;
		bad |= peak->bad[j];
	}
	for (int j = 0; j < LANES; j++) {
		peak->top[j] = top;
		peak->gold[j] = gold;
		peak->other[j] = other;
		peak->predicted[j] = predicted;
		peak->bad[j] = bad;
	}
}

/* The exponentials, relative to the largest, whose own (it is 1) is left out of `rest`. */
LOOP
NAME(logits_add)(struct sums *restrict sums, const struct NAME(peak) *restrict peak, const REAL *restrict z,
                 const int32_t *restrict index, const int32_t *restrict gold)
{
	for (int j = 0; j < LANES; j++) {
		REAL below = z[j] - peak->top[j];
		float d = (float)(below > -104 ? below : -104);
		float e = exp_nonpositive(d);
		float square = e > 0x1p-62f ? e * e : 0.0f; /* no subnormal squares */

		sums->rest[j] += index[j] == peak->predicted[j] ? 0.0f : e;
		sums->other_sq[j] += index[j] == gold[j] ? 0.0f : square;
		sums->weighted[j] += -d * e;
		sums->gold[j] = index[j] == gold[j] ? e : sums->gold[j];
	}
}

LOOP
NAME(probs_add)(struct sums *restrict sums, struct NAME(peak) *restrict peak, const REAL *restrict z,
                const int32_t *restrict index, const int32_t *restrict gold)
{
	for (int j = 0; j < LANES; j++) {
		REAL x = z[j], cut = x > 0 ? x : 0;
		float p = (float)(cut < 1 ? cut : 1);
		float large = p > FLT_MIN ? p : FLT_MIN;
		float square = p > 0x1p-62f ? p * p : 0.0f;

		peak->bad[j] |= !(x >= (REAL)-PROB_TOLERANCE && x <= (REAL)(1 + PROB_TOLERANCE));
		sums->rest[j] += p;
		sums->other_sq[j] += index[j] == gold[j] ? 0.0f : square;
		sums->weighted[j] += -p * log_positive(large);
		sums->gold[j] = index[j] == gold[j] ? p : sums->gold[j];
	}
}

/* `count` scores, `stride` bytes apart, and `pad` in the lanes that are left over. */
LOOP
NAME(gather)(REAL *z, const char *from, ptrdiff_t stride, size_t count, REAL pad)
{
	for (size_t j = 0; j < count; j++)
		memcpy(&z[j], from + (ptrdiff_t)j * stride, sizeof(*z));
	for (size_t j = count; j < LANES; j++)
		z[j] = pad;
}

/* The scores of step `step` of a block, one for each lane. */
static void
NAME(block_load)(const struct block *block, size_t step, REAL *z)
{
	if (block->wide)
		NAME(gather)
	(z, block->data + (ptrdiff_t)(step * LANES) * block->column_stride, block->column_stride,
	 block->classes - step * LANES < LANES ? block->classes - step * LANES : LANES, block->pad);
	else if (block->classes > 1) NAME(gather)(z, block->data + (ptrdiff_t)step * block->column_stride,
	                                          block->row_stride, block->rows, 0);
	else if (step == 1 || block->probs) NAME(gather)(z, block->data, block->row_stride, block->rows, 0);
	else memset(z, 0, LANES * sizeof(*z));
	/* One score is class 1 against class 0, whose logit is 0 and whose probability is the rest. */
	if (block->classes == 1 && block->probs && step == 0)
		for (int j = 0; j < LANES; j++)
			z[j] = 1 - z[j];
}

static void
NAME(block_logits)(const struct block *block, struct sums *sums, struct result *result)
{
	struct NAME(peak) peak;
	int32_t index[LANES];
	REAL z[LANES];

	NAME(peak_init)(&peak);
	for (size_t step = 0; step < block->steps; step++) {
		block_index(block, step, index);
		NAME(block_load)(block, step, z);
		NAME(peak_add)(&peak, z, index, block->gold);
	}
	if (block->wide)
		NAME(peak_merge)(&peak);
	for (size_t step = 0; step < block->steps; step++) {
		block_index(block, step, index);
		NAME(block_load)(block, step, z);
		NAME(logits_add)(sums, &peak, z, index, block->gold);
		sums_fold(sums, block, step);
	}
	for (int j = 0; j < LANES; j++) {
		REAL margin = peak.gold[j] - peak.other[j];

		margin = margin > -(REAL)FLT_MAX ? margin : -(REAL)FLT_MAX;
		result->margin[j] = (float)(margin < (REAL)FLT_MAX ? margin : (REAL)FLT_MAX);
		result->predicted[j] = peak.predicted[j];
		result->bad[j] = peak.bad[j] | !(peak.gold[j] >= -REAL_MAX);
	}
}

static void
NAME(block_probs)(const struct block *block, struct sums *sums, struct result *result)
{
	struct NAME(peak) peak;
	int32_t index[LANES];
	REAL z[LANES];

	NAME(peak_init)(&peak);
	for (size_t step = 0; step < block->steps; step++) {
		block_index(block, step, index);
		NAME(block_load)(block, step, z);
		NAME(peak_add)(&peak, z, index, block->gold);
		NAME(probs_add)(sums, &peak, z, index, block->gold);
		sums_fold(sums, block, step);
	}
	if (block->wide)
		NAME(peak_merge)(&peak);
	for (int j = 0; j < LANES; j++) {
		REAL top = peak.top[j] > 0 ? peak.top[j] : 0;

		result->max_prob[j] = (float)(top < 1 ? top : 1);
		result->predicted[j] = peak.predicted[j];
		result->bad[j] = peak.bad[j];
	}
}

#undef REAL
#undef REAL_MAX
#undef NAME
