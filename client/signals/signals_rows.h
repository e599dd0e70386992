/*
 * signals_rows.h: sends the scores of a batch's rows through the loops over lanes, for signals.c, which includes it
 * with REAL float or double, REAL_MAX, and NAME(name), which also names the type's kernels.
 *
 * A unit is what goes through the lanes together: LANES rows (few classes) or one row (many). Its scores come in pieces
 * of some steps, small enough for the first-level cache; the scores of contiguous rows are read in place.
 */

#define IS_HALF (sizeof(REAL) == sizeof(float) && is_half(block->type))

/* Copies `count` scores, `stride` bytes apart, into every `apart`-th place. */
static void
NAME(gather)(REAL *to, size_t apart, const char *from, ptrdiff_t stride, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy(&to[i * apart], from + (ptrdiff_t)i * stride, sizeof(*to));
}

/* Arranges the scores of LANES rows class after class, in `piece`. `room`: working space for as many floats. */
static void
NAME(turn)(const struct unit *unit, REAL *piece, float *room)
{
	const struct block *block = unit->block;
	const char *data = unit->data;
	ptrdiff_t row_stride = block->row_stride, column_stride = block->column_stride;
	/* If there is only one score, it is that of class 1; class 0 has the logit 0, or the remaining probability. */
	size_t first = block->classes == 1;

	memset(piece, 0, unit->steps * LANES * sizeof(*piece));
	if (IS_HALF) {
		for (size_t row = 0; row < unit->rows; row++)
			widen(unit->kernels, block->type, room + row * block->classes,
			      data + (ptrdiff_t)row * row_stride, column_stride, block->classes);
		data = (const char *)room;
		column_stride = sizeof(*room);
		row_stride = (ptrdiff_t)(block->classes * sizeof(*room));
	}
	for (size_t row = 0, apart; row < unit->rows; row += apart) {
		const char *from = data + (ptrdiff_t)row * row_stride;
		REAL *to = piece + first * LANES + row;
		size_t done = 0;

		apart = sizeof(REAL) == sizeof(float) && column_stride == sizeof(REAL) && row + 4 <= unit->rows ? 4 : 1;
		if (apart == 4)
			done = transpose_fours((float *)to, from, row_stride, block->classes);
		for (size_t i = 0; i < apart; i++)
			NAME(gather)
		(to + done * LANES + i, LANES, from + (ptrdiff_t)i * row_stride + (ptrdiff_t)done * column_stride,
		 column_stride, block->classes - done);
	}
	if (first && block->probs)
		for (size_t j = 0; j < LANES; j++)
			piece[j] = 1 - piece[LANES + j];
}

/* Gives the scores of the steps from `step` on; *steps: of how many steps. `room`: as for turn(). */
static const REAL *
NAME(piece)(const struct unit *unit, size_t step, size_t *steps, REAL *piece, float *room)
{
	const struct block *block = unit->block;
	const char *from = unit->data + (ptrdiff_t)(step * LANES) * block->column_stride;
	size_t left = block->classes - step * LANES, count;

	if (!block->wide) {
		*steps = unit->steps;
		NAME(turn)(unit, piece, room);
		return piece;
	}
	count = left < PIECE_STEPS * LANES ? left : PIECE_STEPS * LANES;
	if (!IS_HALF && block->column_stride == sizeof(REAL) && (uintptr_t)from % sizeof(REAL) == 0 && count >= LANES) {
		*steps = count / LANES;
		return (const REAL *)from;
	}
	if (IS_HALF)
		widen(unit->kernels, block->type, (float *)piece, from, block->column_stride, count);
	else
		NAME(gather)(piece, 1, from, block->column_stride, count);
	for (; count % LANES != 0; count++)
		piece[count] = block->probs ? 0 : (REAL)-INFINITY; /* a score that changes no result */
	*steps = count / LANES;
	return piece;
}

static REAL
NAME(largest)(const REAL x[LANES])
{
	REAL eight[8], four[4], two[2];

	for (int j = 0; j < 8; j++)
		eight[j] = x[j] > x[j + 8] ? x[j] : x[j + 8];
	for (int j = 0; j < 4; j++)
		four[j] = eight[j] > eight[j + 4] ? eight[j] : eight[j + 4];
	for (int j = 0; j < 2; j++)
		two[j] = four[j] > four[j + 2] ? four[j] : four[j + 2];
	return two[0] > two[1] ? two[0] : two[1];
}

/* For lanes that share one row: each of them gets the row's result. */
static void
NAME(peak_merge)(struct NAME(peak) * peak)
{
	REAL top = NAME(largest)(peak->top), other = NAME(largest)(peak->other);
	int32_t predicted = INT32_MAX, bad = 0;

	for (int j = 0; j < LANES; j++) {
		int32_t candidate = peak->top[j] == top ? peak->predicted[j] : INT32_MAX;

		predicted = candidate < predicted ? candidate : predicted;
		bad |= peak->bad[j];
	}
	for (int j = 0; j < LANES; j++) {
		peak->top[j] = top;
		peak->other[j] = other;
		peak->predicted[j] = predicted;
		peak->bad[j] = bad;
	}
}

/* Cuts probabilities to [0, 1], as float32. */
static void
NAME(cut)(float *restrict probs, const REAL *restrict scores, size_t steps, struct NAME(peak) *restrict peak)
{
	for (size_t step = 0; step < steps; step++)
		for (size_t j = 0; j < LANES; j++) {
			REAL x = scores[step * LANES + j], least = x > 0 ? x : 0;

			peak->bad[j] |= !(x >= (REAL)-PROB_TOLERANCE) | !(x <= (REAL)(1 + PROB_TOLERANCE));
			probs[step * LANES + j] = (float)(least < 1 ? least : 1);
		}
}

/* Reads the score of a row's gold class from the caller's array. */
static REAL
NAME(gold_score)(const struct unit *unit, size_t row, int32_t gold)
{
	const struct block *block = unit->block;
	const char *at = unit->data + (ptrdiff_t)row * block->row_stride;
	REAL x;

	at += block->classes == 1 ? 0 : gold * block->column_stride;
	if (IS_HALF)
		widen(unit->kernels, block->type, (float *)&x, at, 0, 1);
	else
		memcpy(&x, at, sizeof(x));
	return block->classes > 1 || gold == 1 ? x : block->probs ? 1 - x : 0;
}

static void
NAME(unit_store)(const struct unit *unit, const struct NAME(peak) * peak, struct result *result)
{
	for (size_t row = 0; row < unit->rows; row++) {
		size_t to = unit->first + row;
		REAL top = peak->top[row], gold = NAME(gold_score)(unit, row, unit->seen.gold[row]);
		REAL margin = gold - peak->other[row], below = gold - top;

		margin = margin > -(REAL)FLT_MAX ? margin : -(REAL)FLT_MAX;
		result->margin[to] = (float)(margin < (REAL)FLT_MAX ? margin : (REAL)FLT_MAX);
		result->predicted[to] = peak->predicted[row];
		result->bad[to] = peak->bad[row];
		if (unit->block->probs) {
			result->gold[to] = (float)(gold < 0 ? 0 : gold < 1 ? gold : 1);
			result->max_prob[to] = (float)(top < 0 ? 0 : top < 1 ? top : 1);
		} else {
			result->gold[to] = (float)(below > LEAST_BELOW ? below : LEAST_BELOW);
			result->bad[to] |= !(gold >= -REAL_MAX);
		}
	}
}

static void
NAME(unit_run)(struct unit *unit, struct sums *sums, struct result *result)
{
	const struct signals_kernels *kernels = unit->kernels;
	struct NAME(peak) peak;
	REAL piece[PIECE_STEPS * LANES];
	float changed[PIECE_STEPS * LANES];
	const REAL *scores = piece;
	size_t steps = 0;

	for (int j = 0; j < LANES; j++) {
		peak.top[j] = peak.other[j] = (REAL)-INFINITY;
		peak.predicted[j] = INT32_MAX; /* not a class: in a tie, a lane that has read a class wins */
		peak.bad[j] = 0;
	}
	for (size_t step = 0; step < unit->steps; step += steps) {
		scores = NAME(piece)(unit, step, &steps, piece, changed);
		seen_from(unit, step);
		kernels->NAME(peak_add)(&peak, scores, steps, &unit->seen);
	}
	if (unit->block->wide)
		NAME(peak_merge)(&peak);
	memcpy(unit->seen.predicted, peak.predicted, sizeof(peak.predicted));
	for (size_t step = 0; step < unit->steps; step += steps) {
		if (steps < unit->steps) /* otherwise the only piece is still in place */
			scores = NAME(piece)(unit, step, &steps, piece, changed);
		seen_from(unit, step);
		if (unit->block->probs) {
			NAME(cut)(changed, scores, steps, &peak);
			probs_add(sums, changed, steps, &unit->seen);
		} else {
			kernels->NAME(below)(changed, scores, steps, &peak);
			kernels->logits_add(sums, changed, steps, &unit->seen);
		}
	}
	if (unit->block->wide && unit->block->probs)
		for (int j = 1; j < LANES; j++)
			peak.bad[0] |= peak.bad[j];
	NAME(unit_store)(unit, &peak, result);
}

#undef IS_HALF
#undef REAL
#undef REAL_MAX
#undef NAME
