/*
 * kernels_body.h: the inner loops of kernels.h in C, which kernels.c includes once for each kind of processor, with
 *
 *     KERNEL(name)          this kind's name of a function or type
 *     LANES                 floats in one register
 *     ROWS                  rows that a thin product takes at once: LANES or fewer
 *     TALL                  rows that a large product takes at once, by two registers of columns
 *     PLACES(h, o)          LANES times PLACE(), plus o
 *     MULTIPLY_ADD(a, b, c) a b + c of registers
 *     KEEP(x)               keeps x in a register, where the compiler would read it from memory each time
 *
 * The training set of one classifier has a few rows of each block, and these lie anywhere. So a thin product takes ROWS
 * rows and up to three columns at a time, each with a register of partial sums. The gradient is computed while the rows
 * are still in the first-level cache. So a row comes twice from there, and once from further away.
 */
typedef float KERNEL(floats) __attribute__((vector_size(4 * LANES), may_alias));
typedef int32_t KERNEL(integers) __attribute__((vector_size(4 * LANES), may_alias));
#define FLOATS KERNEL(floats)
#define INTEGERS KERNEL(integers)
#define INLINE static inline __attribute__((always_inline))

INLINE FLOATS
KERNEL(load)(const float *from)
{
	return *(const FLOATS *)from; /* aligned */
}

INLINE void
KERNEL(store)(float *to, FLOATS values)
{
	*(FLOATS *)to = values;
}

INLINE FLOATS
KERNEL(all)(float value)
{
	return value - (FLOATS){0};
}

INLINE FLOATS
KERNEL(choose)(INTEGERS condition, FLOATS yes, FLOATS no)
{
	return (FLOATS)((condition & (INTEGERS)yes) | (~condition & (INTEGERS)no));
}

INLINE FLOATS
KERNEL(larger)(FLOATS a, FLOATS b)
{
	return KERNEL(choose)(a > b, a, b);
}

/* Adds the two halves of each group of 2 h lanes, in a and in b, and puts the sums of a and b beside one another. */
#define FOLD(a, b, h) (__builtin_shufflevector(a, b, PLACES(h, 0)) + __builtin_shufflevector(a, b, PLACES(h, h)))

/* The sum of each of ROWS registers, in the first ROWS lanes. */
INLINE FLOATS
KERNEL(sums)(FLOATS *part)
{
	unsigned count = ROWS;

#if LANES == 16
#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i += 2)
		part[i / 2] = FOLD(part[i], part[i + 1], 8);
	count /= 2;
#endif
#if LANES >= 8
#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i += 2)
		part[i / 2] = count > 1 ? FOLD(part[i], part[i + 1], 4) : FOLD(part[0], part[0], 4);
	count = count > 1 ? count / 2 : 1;
#endif
#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i += 2)
		part[i / 2] = count > 1 ? FOLD(part[i], part[i + 1], 2) : FOLD(part[0], part[0], 2);
	count = count > 1 ? count / 2 : 1;
	return count > 1 ? FOLD(part[0], part[1], 1) : FOLD(part[0], part[0], 1);
}

/* z[k][i] = row i · weights k, for `count` ≤ ROWS rows and `columns` ≤ 3 weight vectors. */
INLINE void
KERNEL(dots)(const float *const *rows, const float *weights, size_t stride, const unsigned count,
             const unsigned columns, float *z)
{
	FLOATS part[3][ROWS] = {0};

	for (size_t f = 0; f < stride; f += LANES) {
		FLOATS weight[3];

#pragma GCC unroll 3
		for (unsigned k = 0; k < columns; k++)
			weight[k] = KERNEL(load)(weights + k * stride + f);
#pragma GCC unroll 8
		for (unsigned r = 0; r < count; r++) {
			FLOATS x = KERNEL(load)(rows[r] + f);

			KEEP(x);
#pragma GCC unroll 3
			for (unsigned k = 0; k < columns; k++)
				part[k][r] = MULTIPLY_ADD(x, weight[k], part[k][r]);
		}
	}
#pragma GCC unroll 3
	for (unsigned k = 0; k < columns; k++) {
		FLOATS sum = KERNEL(sums)(part[k]);

		memcpy(z + k * KERNELS_TILE, &sum, ROWS * sizeof(float));
	}
}

/* gradient k += Σ residual[k][i] row i, for `width` registers of features from f on. */
INLINE void
KERNEL(spread)(const float *const *rows, size_t count, const float *residual, size_t stride, const unsigned columns,
               size_t f, const unsigned width, float *gradient)
{
	FLOATS sum[3][5];

#pragma GCC unroll 3
	for (unsigned k = 0; k < columns; k++)
#pragma GCC unroll 5
		for (unsigned v = 0; v < width; v++)
			sum[k][v] = KERNEL(load)(gradient + k * stride + f + v * LANES);
	for (size_t i = 0; i < count; i++) {
#pragma GCC unroll 5
		for (unsigned v = 0; v < width; v++) {
			FLOATS x = KERNEL(load)(rows[i] + f + v * LANES);

			KEEP(x);
#pragma GCC unroll 3
			for (unsigned k = 0; k < columns; k++)
				sum[k][v] = MULTIPLY_ADD(x, KERNEL(all)(residual[k * KERNELS_TILE + i]), sum[k][v]);
		}
	}
#pragma GCC unroll 3
	for (unsigned k = 0; k < columns; k++)
#pragma GCC unroll 5
		for (unsigned v = 0; v < width; v++)
			KERNEL(store)(gradient + k * stride + f + v * LANES, sum[k][v]);
}

/* As spread(), but for all features, in steps of up to five registers: additions to a single register would wait for
 * each other. */
INLINE void
KERNEL(spread_all)(const float *const *rows, size_t count, const float *residual, size_t stride, const unsigned columns,
                   float *gradient)
{
	for (size_t f = 0; f < stride;) {
		size_t left = (stride - f) / LANES, width = left >= 8 ? 4 : left > 5 ? (left + 1) / 2 : left;

		if (width == 4)
			KERNEL(spread)(rows, count, residual, stride, columns, f, 4, gradient);
		else if (width == 5)
			KERNEL(spread)(rows, count, residual, stride, columns, f, 5, gradient);
		else if (width == 3)
			KERNEL(spread)(rows, count, residual, stride, columns, f, 3, gradient);
		else if (width == 2)
			KERNEL(spread)(rows, count, residual, stride, columns, f, 2, gradient);
		else
			KERNEL(spread)(rows, count, residual, stride, columns, f, 1, gradient);
		f += width * LANES;
	}
}

/* A piece of a large product: `rows` ≤ TALL rows by `width` ≤ 2 registers of columns, which begin at b and c. */
INLINE void
KERNEL(multiply_piece)(const struct kernels_product *product, const float *a, const float *b, float *c,
                       const unsigned rows, const unsigned width)
{
	FLOATS sum[TALL][2];

#pragma GCC unroll 16
	for (unsigned r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (unsigned v = 0; v < width; v++)
			sum[r][v] = product->add ? KERNEL(load)(c + r * product->c_stride + v * LANES) : (FLOATS){0};
	for (size_t k = 0; k < product->depth; k++) {
		FLOATS right[2];

#pragma GCC unroll 2
		for (unsigned v = 0; v < width; v++)
			right[v] = KERNEL(load)(b + k * product->b_stride + v * LANES);
#pragma GCC unroll 16
		for (unsigned r = 0; r < rows; r++) {
			FLOATS left = KERNEL(all)(a[r * product->a_stride + k]);

#pragma GCC unroll 2
			for (unsigned v = 0; v < width; v++)
				sum[r][v] = MULTIPLY_ADD(left, right[v], sum[r][v]);
		}
	}
#pragma GCC unroll 16
	for (unsigned r = 0; r < rows; r++)
#pragma GCC unroll 2
		for (unsigned v = 0; v < width; v++)
			KERNEL(store)(c + r * product->c_stride + v * LANES, sum[r][v]);
}

/* The rows from `from` to `to` − 1 of a large product. */
static void
KERNEL(multiply_rows)(const struct kernels_product *product, size_t from, size_t to)
{
	for (size_t j = 0; j < product->columns;) {
		unsigned width = j + 2 * LANES <= product->columns ? 2 : 1;

		for (size_t r = from; r < to;) {
			const float *a = product->a + r * product->a_stride, *b = product->b + j;
			float *c = product->c + r * product->c_stride + j;
			size_t left = to - r;

			if (width == 2 && left >= TALL)
				KERNEL(multiply_piece)(product, a, b, c, TALL, 2);
			else if (width == 2 && left >= 4)
				KERNEL(multiply_piece)(product, a, b, c, 4, 2);
			else if (width == 2)
				KERNEL(multiply_piece)(product, a, b, c, 1, 2);
			else if (left >= TALL)
				KERNEL(multiply_piece)(product, a, b, c, TALL, 1);
			else
				KERNEL(multiply_piece)(product, a, b, c, 1, 1);
			r += left >= TALL ? TALL : width == 2 && left >= 4 ? 4 : 1;
		}
		j += width * LANES;
	}
}

/* PRODUCT_ROWS rows of a stay in the second-level cache while all columns of b are multiplied with them. */
static void
KERNEL(multiply)(const struct kernels_product *product)
{
	for (size_t r = 0; r < product->rows; r += PRODUCT_ROWS)
		KERNEL(multiply_rows)(product, r, r + PRODUCT_ROWS < product->rows ? r + PRODUCT_ROWS : product->rows);
}

/* e^x for x ≤ 0, with a relative error of about 1e-7; 0 from −87 down. */
INLINE FLOATS
KERNEL(exponential)(FLOATS x)
{
	const float round = 12582912.0f; /* 1.5 · 2^23: a number that is added to it is rounded to a whole number */
	FLOATS above = KERNEL(larger)(x, KERNEL(all)(-87.0f));
	FLOATS shifted = above * 1.44269504f + round, n = shifted - round, r, p;

	r = above - n * 0.693145752f;
	r = r - n * 1.42860677e-6f;
	p = r * 1.3888889e-3f + 8.3333333e-3f;
	p = p * r + 4.1666667e-2f;
	p = p * r + 1.6666667e-1f;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	return (FLOATS)(((INTEGERS)p + ((INTEGERS)shifted << 23)) & (x > -87.0f));
}

/* z[k × tile + i] becomes p_k(i) − [k is gold]; sums[i] = Σ e^(z − max z), over[i] = max z − z_gold. */
INLINE void
KERNEL(residuals)(float *z, const size_t tile, size_t columns, const uint8_t *absent, const int32_t *slots,
                  size_t count, float *sums, float *over)
{
	for (size_t i = 0; i < count; i += LANES) {
		FLOATS top = {0}, gold = {0}, sum;
		INTEGERS slot;

		memcpy(&slot, slots + i, sizeof(slot));
		for (size_t k = 0; k < columns; k++) {
			FLOATS value = KERNEL(load)(z + k * tile + i);

			if (absent && absent[k + 1])
				KERNEL(store)(z + k * tile + i, value = KERNEL(all)(-1e30f));
			top = KERNEL(larger)(value, top);
			gold = KERNEL(choose)(slot == (int32_t)(k + 1), value, gold);
		}
		sum = KERNEL(exponential)(-top);
		for (size_t k = 0; k < columns; k++) {
			FLOATS part = KERNEL(exponential)(KERNEL(load)(z + k * tile + i) - top);

			sum += part;
			KERNEL(store)(z + k * tile + i, part);
		}
		KERNEL(store)(sums + i, sum);
		KERNEL(store)(over + i, top - gold);
		sum = 1.0f / sum;
		for (size_t k = 0; k < columns; k++) {
			FLOATS p = KERNEL(load)(z + k * tile + i) * sum;

			KERNEL(store)(z + k * tile + i, KERNEL(choose)(slot == (int32_t)(k + 1), p - 1.0f, p));
		}
	}
}

/* Σ over[i] + ln sums[i]. The logarithm is taken of a product, as each factor is between 1 and about the number of classes.
 * There are four products, so that none waits for another. */
INLINE double
KERNEL(losses)(const float *sums, const float *over, size_t count)
{
	double loss[4] = {0}, product[4] = {1, 1, 1, 1};

	for (size_t i = 0; i < count; i++) {
		loss[i % 4] += over[i];
		product[i % 4] *= sums[i];
	}
	return ((loss[0] + loss[1]) + (loss[2] + loss[3])) + log(product[0] * product[1]) +
	       log(product[2] * product[3]);
}

static double
KERNEL(residuals_all)(float *z, size_t tile, size_t columns, const uint8_t *absent, const int32_t *slots, size_t count,
                      float *sums, float *over)
{
	double loss = 0;

	KERNEL(residuals)(z, tile, columns, absent, slots, count, sums, over);
	for (size_t i = 0; i < count; i += KERNELS_TILE) /* a longer product might overflow */
		loss += KERNEL(losses)(sums + i, over + i, count - i < KERNELS_TILE ? count - i : KERNELS_TILE);
	return loss;
}

/* z[k × tile + i] becomes the derivative of the squared hinge; sums[i] is the loss of row i. */
INLINE void
KERNEL(shortfall)(float *z, const size_t tile, size_t columns, size_t first, const uint8_t *absent,
                  const int32_t *slots, size_t count, float *sums)
{
	for (size_t i = 0; i < count; i += LANES) {
		FLOATS sum = {0};
		INTEGERS slot;

		memcpy(&slot, slots + i, sizeof(slot));
		for (size_t k = 0; k < columns; k++) {
			FLOATS value = KERNEL(load)(z + k * tile + i);
			FLOATS sign =
			        KERNEL(choose)(slot == (int32_t)(k + first), KERNEL(all)(1.0f), KERNEL(all)(-1.0f));
			FLOATS gap = KERNEL(larger)(1.0f - sign * value, (FLOATS){0});

			if (absent && absent[k + first])
				gap = (FLOATS){0};
			sum += gap * gap;
			KERNEL(store)(z + k * tile + i, -2.0f * sign * gap);
		}
		KERNEL(store)(sums + i, sum);
	}
}

static double
KERNEL(shortfalls)(float *z, size_t tile, size_t columns, size_t first, const uint8_t *absent, const int32_t *slots,
                   size_t count, float *sums)
{
	double loss = 0;

	KERNEL(shortfall)(z, tile, columns, first, absent, slots, count, sums);
	for (size_t i = 0; i < count; i++)
		loss += sums[i];
	return loss;
}

/* Of equal distances the lowest class wins: gold must be above those before it, and not below those after it. */
static void
KERNEL(judge)(const struct kernels_judged *judged)
{
	INTEGERS bit;

	for (int i = 0; i < LANES; i++)
		bit[i] = 1 << i;
	for (size_t i = 0; i < judged->count; i += LANES) {
		FLOATS gold = {0}, before, after = KERNEL(all)(-INFINITY), margin;
		INTEGERS slot, held_out, *made = (INTEGERS *)(judged->made + i),
		                         *correct = (INTEGERS *)(judged->correct + i);

		memcpy(&slot, judged->golds + i, sizeof(slot));
		before = KERNEL(choose)(slot > 0, gold, after);
		for (size_t k = 0; k < judged->columns; k++) {
			FLOATS value = KERNEL(load)(judged->z + k * judged->tile + i);
			INTEGERS number = (INTEGERS){0} + (int32_t)(k + 1);

			gold = KERNEL(choose)(number == slot, value, gold);
			before = KERNEL(choose)(number < slot, KERNEL(larger)(value, before), before);
			after = KERNEL(choose)(number > slot, KERNEL(larger)(value, after), after);
		}
		margin = gold - KERNEL(larger)(before, after);
		held_out = (((INTEGERS){0} + (int32_t)(judged->trained[i / 64] >> i % 64)) & bit) == 0;
		*made -= held_out;
		*correct -= held_out & (gold > before) & (gold >= after);
		KERNEL(store)
		(judged->margins + i, KERNEL(load)(judged->margins + i) + (FLOATS)((INTEGERS)margin & held_out));
	}
}

/* As dots(), but for any number of rows: ROWS at once, or half of them where that is enough. */
INLINE void
KERNEL(dots_all)(const float *const *rows, size_t count, const float *weights, size_t stride, const unsigned columns,
                 float *z)
{
	for (size_t r = 0; r < count; r += ROWS)
		if (count - r > ROWS / 2)
			KERNEL(dots)(rows + r, weights, stride, ROWS, columns, z + r);
		else
			KERNEL(dots)(rows + r, weights, stride, ROWS / 2, columns, z + r);
}

static double
KERNEL(fit_tile)(const struct kernels_fit *fit, const float *const *rows, const int32_t *slots, size_t count)
{
	float *z = fit->scratch, *sums = z + fit->columns * KERNELS_TILE, *over = sums + KERNELS_TILE;
	size_t stride = fit->stride;
	double loss = 0;

	for (size_t k = 0; k < fit->columns;) {
		size_t left = fit->columns - k, take = left == 4 ? 2 : left < 3 ? left : 3;
		const float *weights = fit->weights + k * stride;

		if (take == 3)
			KERNEL(dots_all)(rows, count, weights, stride, 3, z + k * KERNELS_TILE);
		else if (take == 2)
			KERNEL(dots_all)(rows, count, weights, stride, 2, z + k * KERNELS_TILE);
		else
			KERNEL(dots_all)(rows, count, weights, stride, 1, z + k * KERNELS_TILE);
		k += take;
	}
	if (fit->hinge)
		loss = KERNEL(shortfalls)(z, KERNELS_TILE, fit->columns, fit->first, fit->absent, slots, count, sums);
	else
		KERNEL(residuals)(z, KERNELS_TILE, fit->columns, fit->absent, slots, count, sums, over);
	for (size_t k = 0; k < fit->columns;) {
		size_t left = fit->columns - k, take = left == 4 ? 2 : left < 3 ? left : 3;
		float *gradient = fit->gradient + k * stride;

		if (take == 3)
			KERNEL(spread_all)(rows, count, z + k * KERNELS_TILE, stride, 3, gradient);
		else if (take == 2)
			KERNEL(spread_all)(rows, count, z + k * KERNELS_TILE, stride, 2, gradient);
		else
			KERNEL(spread_all)(rows, count, z + k * KERNELS_TILE, stride, 1, gradient);
		k += take;
	}
	return fit->hinge ? loss : KERNEL(losses)(sums, over, count);
}

static double
KERNEL(fit)(const struct kernels_fit *fit, const float *const *rows, const int32_t *slots, size_t count)
{
	size_t most = TILE_FLOATS / fit->stride / 8 * 8;
	double loss = 0;

	most = most < 8 ? 8 : most > KERNELS_TILE ? KERNELS_TILE : most;
	for (size_t at = 0; at < count; at += most)
		loss += KERNEL(fit_tile)(fit, rows + at, slots + at, count - at < most ? count - at : most);
	return loss;
}

static void
KERNEL(widen)(const void *halves, float *to, size_t count)
{
	const uint8_t *from = halves;
	size_t i = 0;

#if defined(__F16C__) && LANES > 4
	for (; i + 8 <= count; i += 8)
		_mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 2 * i))));
#endif
	for (; i < count; i++)
		to[i] = kernels_widen_half(from + 2 * i);
}

static bool
KERNEL(survey)(const float *row, size_t stride, float *sums, float *lowest, float *highest)
{
	INTEGERS finite = ~(INTEGERS){0};
	bool all = true;

	for (size_t f = 0; f < stride; f += LANES) {
		FLOATS x, low = KERNEL(load)(lowest + f), high = KERNEL(load)(highest + f);

		memcpy(&x, row + f, sizeof(x));
		finite &= x - x == (FLOATS){0};
		KERNEL(store)(sums + f, KERNEL(load)(sums + f) + x);
		KERNEL(store)(lowest + f, KERNEL(choose)(x < low, x, low));
		KERNEL(store)(highest + f, KERNEL(choose)(x > high, x, high));
	}
	for (int i = 0; i < LANES; i++)
		all &= finite[i] != 0;
	return all;
}

static void
KERNEL(subtract)(const float *from, const float *less, float *to, size_t count)
{
	size_t f = 0;

	for (; f + LANES <= count; f += LANES) {
		FLOATS x;

		memcpy(&x, from + f, sizeof(x));
		KERNEL(store)(to + f, x - KERNEL(load)(less + f));
	}
	for (; f < count; f++)
		to[f] = from[f] - less[f];
}

static const struct kernels KERNEL(all_kernels) = {
        .name = KERNEL_NAME,
        .fit = KERNEL(fit),
        .residuals = KERNEL(residuals_all),
        .shortfalls = KERNEL(shortfalls),
        .judge = KERNEL(judge),
        .multiply = KERNEL(multiply),
        .widen = KERNEL(widen),
        .survey = KERNEL(survey),
        .subtract = KERNEL(subtract),
};

#undef FLOATS
#undef INTEGERS
#undef INLINE
#undef FOLD
