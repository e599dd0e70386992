/*
 * signals.c: derives what is recorded of an example from the scores of the model, for portolan_log(): the signals of a
 * row, which are gold probability, correctness, margin, Σ p² of the others, entropy, largest probability, prediction.
 *
 * The work is spread over 16 lanes, so that vector instructions do it. With few classes (the common case) a lane is a
 * row, and a step reads one class of 16 rows. With many classes a lane is a 16th of one row's classes, and the lanes
 * are merged at the end of the row. The loops over the lanes are in signals_lanes.h, compiled for three kinds of
 * processor; the best kind that this processor supports is used. signals_rows.h brings the scores to them, once for
 * float32 and once for float64 input; half precision is widened to float32 on the way.
 *
 * Stability: with m the maximum, e_k = e^(z_k − m) and rest = Σ e_k besides the maximum's own 1,
 *	p_k = e_k / (1 + rest)		Σ p² over k ≠ gold = Σ e_k² / (1 + rest)²	margin from z itself
 *	entropy = ln(1 + rest) + Σ e_k (m − z_k) / (1 + rest)		every term ≥ 0, so nothing cancels
 * and a probability near 1 leaves small, accurate numbers for all the others. A lane's float32 sums are added to
 * float64 sums every 16 steps. The choice between the two ways depends on the number of classes alone. So a row's
 * signals are the same bits in every batch, and on every processor.
 */
#include "signals.h"

#include "signals_math.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

#define LANES 16
#define ROWS 64          /* the sums of so many rows become signals together */
#define WIDE_CLASSES 129 /* with so many classes or more, one row alone uses the lanes well */
#define PIECE_STEPS 128  /* steps in a piece: it stays in the first-level cache, with what is computed from it */
#define FOLD_STEPS 16
#define WIDENED 64         /* so many half-precision scores are widened at a time */
#define LEAST_BELOW (-104) /* where x is below this, e^x is 0 */
#define PROB_TOLERANCE 1e-6
#define SUM_TOLERANCE 0.01

_Static_assert(WIDE_CLASSES - 1 <= PIECE_STEPS, "rows side by side are one piece");

struct block {
	ptrdiff_t row_stride, column_stride;
	size_t classes;
	enum portolan_type type;
	bool wide, probs;
};

/* Which classes each lane reads; and, of the lane's row, the gold class and the predicted one. */
struct seen {
	int32_t first[LANES], apart; /* the class read in the first step; the next step reads `apart` further */
	int32_t gold[LANES], predicted[LANES];
};

/* The rows that go through the lanes together. */
struct unit {
	const struct block *block;
	const struct signals_kernels *kernels;
	const char *data; /* the first row */
	size_t first, rows, steps;
	struct seen seen;
};

/* By lane: the largest score, and the largest one besides that of the gold class. */
struct peak_f32 {
	float top[LANES], other[LANES];
	int32_t predicted[LANES], bad[LANES];
};

struct peak_f64 {
	double top[LANES], other[LANES];
	int32_t predicted[LANES], bad[LANES];
};

struct sums {
	double rest[LANES], other_sq[LANES], weighted[LANES];
};

struct result {
	float rest[ROWS], other_sq[ROWS], weighted[ROWS];
	float gold[ROWS], margin[ROWS], max_prob[ROWS]; /* gold: of logits, first how far it is below the largest one */
	int32_t predicted[ROWS], bad[ROWS];
	uint8_t correct[ROWS], refused[ROWS];
};

struct signals_kernels {
	void (*peak_add_f32)(struct peak_f32 *, const float *, size_t, const struct seen *);
	void (*below_f32)(float *, const float *, size_t, const struct peak_f32 *);
	void (*peak_add_f64)(struct peak_f64 *, const double *, size_t, const struct seen *);
	void (*below_f64)(float *, const double *, size_t, const struct peak_f64 *);
	void (*logits_add)(struct sums *, const float *, size_t, const struct seen *);
	void (*widen)(float *, const uint16_t *, bool);
};

/* Hides the value of `lane` from the compiler, which would otherwise unroll loops over lanes to no use. */
#define HIDE(lane) __asm__("" : "+r"(lane))

#define KIND(name) plain_##name
#define KERNEL static
#define FLOATS 4
#include "signals_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WITH_WIDE
#include <cpuid.h>
#define KIND(name) avx2_##name
#define KERNEL __attribute__((target("avx2"))) static
#define FLOATS 8
#include "signals_lanes.h"

#define KIND(name) avx512_##name
#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) static
#define FLOATS 16
#include "signals_lanes.h"
#endif

/* The loop over probabilities is compiled for one kind of processor only: they are rarely logged, and the library
 * should stay small. */
#define PROBS 4
static void
probs_add(struct sums *restrict sums, const float *restrict probs, size_t steps, const struct seen *restrict seen)
{
	for (size_t lane = 0; lane < LANES; lane += PROBS) {
		int32_t index[PROBS], gold[PROBS];

		HIDE(lane);
		for (size_t j = 0; j < PROBS; j++) {
			index[j] = seen->first[lane + j];
			gold[j] = seen->gold[lane + j];
		}
		for (size_t step = 0; step < steps;) {
			size_t end = steps - step > FOLD_STEPS ? step + FOLD_STEPS : steps;
			float rest[PROBS] = {0}, other_sq[PROBS] = {0}, weighted[PROBS] = {0};

			for (; step < end; step++)
				for (size_t j = 0; j < PROBS; j++) {
					float p = probs[step * LANES + lane + j], large = p > FLT_MIN ? p : FLT_MIN;
					float square = p > 0x1p-62f ? p * p : 0.0f;

					rest[j] += p;
					other_sq[j] += index[j] == gold[j] ? 0.0f : square;
					weighted[j] -= p * log_positive(large);
					index[j] += seen->apart;
				}
			for (size_t j = 0; j < PROBS; j++) {
				sums->rest[lane + j] += (double)rest[j];
				sums->other_sq[lane + j] += (double)other_sq[j];
				sums->weighted[lane + j] += (double)weighted[j];
			}
		}
	}
}

static void
seen_from(struct unit *unit, size_t step)
{
	bool wide = unit->block->wide;

	for (int32_t j = 0; j < LANES; j++)
		unit->seen.first[j] = wide ? (int32_t)(step * LANES) + j : (int32_t)step;
	unit->seen.apart = wide ? LANES : 1;
}

/* Transposes four rows of contiguous scores, four classes at a time, so that the scores of one step stand together.
 * Returns how many classes were transposed. */
static size_t
transpose_fours(float *to, const char *from, ptrdiff_t row_stride, size_t classes)
{
	typedef float four __attribute__((vector_size(16)));
	size_t class = 0;

	for (; class + 4 <= classes; class += 4) {
		four row[4], low[2], high[2];

		for (int i = 0; i < 4; i++)
			memcpy(&row[i], from + (ptrdiff_t)i * row_stride + class * sizeof(float), sizeof(row[i]));
		for (int i = 0; i < 2; i++) {
			low[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 0, 4, 1, 5);
			high[i] = __builtin_shufflevector(row[2 * i], row[2 * i + 1], 2, 6, 3, 7);
		}
		row[0] = __builtin_shufflevector(low[0], low[1], 0, 1, 4, 5);
		row[1] = __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7);
		row[2] = __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5);
		row[3] = __builtin_shufflevector(high[0], high[1], 2, 3, 6, 7);
		for (size_t i = 0; i < 4; i++)
			memcpy(to + (class + i) * LANES, &row[i], sizeof(row[i]));
	}
	return class;
}

static bool
is_half(enum portolan_type type)
{
	return type == PORTOLAN_F16 || type == PORTOLAN_BF16;
}

/* Reads `count` half-precision scores, `stride` bytes apart, as float32. */
static void
widen(const struct signals_kernels *kernels, enum portolan_type type, float *to, const char *from, ptrdiff_t stride,
      size_t count)
{
	for (size_t first = 0; first < count; first += WIDENED) {
		size_t some = count - first < WIDENED ? count - first : WIDENED;
		uint16_t half[WIDENED] = {0};
		float wide[WIDENED];

		if (stride == sizeof(half[0]))
			memcpy(half, from + first * sizeof(half[0]), some * sizeof(half[0]));
		else
			for (size_t i = 0; i < some; i++)
				memcpy(&half[i], from + (ptrdiff_t)(first + i) * stride, sizeof(half[0]));
		kernels->widen(wide, half, type == PORTOLAN_BF16);
		memcpy(to + first, wide, some * sizeof(wide[0]));
	}
}

#define REAL float
#define REAL_MAX FLT_MAX
#define NAME(name) name##_f32
#include "signals_rows.h"

#define REAL double
#define REAL_MAX DBL_MAX
#define NAME(name) name##_f64
#include "signals_rows.h"

static double
lanes_sum(const double x[LANES])
{
	double eight[8], four[4];

	for (int j = 0; j < 8; j++)
		eight[j] = x[j] + x[j + 8];
	for (int j = 0; j < 4; j++)
		four[j] = eight[j] + eight[j + 4];
	return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Turns the sums of lanes into sums of rows. If the lanes share one row, adds them up. */
static void
sums_store(const struct sums *sums, const struct unit *unit, struct result *result)
{
	size_t first = unit->first;

	if (unit->block->wide) {
		result->rest[first] = (float)lanes_sum(sums->rest);
		result->other_sq[first] = (float)lanes_sum(sums->other_sq);
		result->weighted[first] = (float)lanes_sum(sums->weighted);
		return;
	}
	for (int j = 0; j < LANES; j++) { /* also beyond the unit's rows: there is room for LANES */
		result->rest[first + j] = (float)sums->rest[j];
		result->other_sq[first + j] = (float)sums->other_sq[j];
		result->weighted[first + j] = (float)sums->weighted[j];
	}
}

static void
result_finish_logits(struct result *result)
{
	for (int j = 0; j < ROWS; j++) {
		float rest = result->rest[j], share = 1.0f / (1.0f + rest);

		result->gold[j] = exp_nonpositive(result->gold[j]) * share;
		result->other_sq[j] *= share * share;
		result->weighted[j] = log1p_nonnegative(rest) + result->weighted[j] * share;
		result->max_prob[j] = share;
	}
}

static void
result_finish_probs(struct result *result)
{
	for (int j = 0; j < ROWS; j++)
		result->bad[j] |= !(fabsf(result->rest[j] - 1.0f) <= (float)SUM_TOLERANCE);
}

/* Copies the results of a block's `count` rows to the rows from `first` on of `columns`. Returns how many are
 * refused. */
static size_t
result_store_rows(const struct block *block, struct result *result, size_t first, size_t count, const int32_t *gold,
                  const struct signals_columns *columns, uint8_t *refused)
{
	size_t bad = 0;

	memcpy(columns->gold_prob + first, result->gold, count * sizeof(float));
	memcpy(columns->other_sq + first, result->other_sq, count * sizeof(float));
	memcpy(columns->entropy + first, result->weighted, count * sizeof(float));
	memcpy(columns->max_prob + first, result->max_prob, count * sizeof(float));
	memcpy(columns->predicted + first, result->predicted, count * sizeof(int32_t));
	if (!block->probs)
		memcpy(columns->margin + first, result->margin, count * sizeof(float));
	for (size_t j = 0; j < count; j++) {
		columns->correct[first + j] = result->predicted[j] == gold[first + j];
		refused[first + j] = result->bad[j] != 0;
		bad += result->bad[j] != 0;
	}
	return bad;
}

/* Derives the results of `rows` rows (at most ROWS) from `first` on. */
static void
block_run(const struct signals_kernels *kernels, const struct block *block, const struct portolan_array *scores,
          size_t first, size_t rows, const int32_t *gold, struct result *result)
{
	struct unit unit;

	unit.block = block;
	unit.kernels = kernels;
	unit.rows = block->wide ? 1 : LANES;
	unit.steps = block->wide ? (block->classes + LANES - 1) / LANES : block->classes == 1 ? 2 : block->classes;
	memset(result, 0, sizeof(*result));
	for (unit.first = 0; unit.first < rows; unit.first += unit.rows) {
		struct sums sums;

		for (int j = 0; j < LANES; j++)
			sums.rest[j] = sums.other_sq[j] = sums.weighted[j] = 0;
		unit.data = (const char *)scores->data + (ptrdiff_t)(first + unit.first) * scores->row_stride;
		if (unit.rows > rows - unit.first)
			unit.rows = rows - unit.first;
		for (size_t j = 0; j < LANES; j++)
			unit.seen.gold[j] = gold[first + unit.first + (j < unit.rows ? j : 0)];
		if (scores->type == PORTOLAN_F64)
			unit_run_f64(&unit, &sums, result);
		else
			unit_run_f32(&unit, &sums, result);
		sums_store(&sums, &unit, result);
	}
	if (block->probs)
		result_finish_probs(result);
	else
		result_finish_logits(result);
}

size_t
signals_derive(const struct signals_kernels *kernels, const struct portolan_array *scores, bool probs, size_t n,
               size_t classes, const int32_t *gold, const struct signals_columns *columns, uint8_t *refused)
{
	const struct block block = {
	        .row_stride = scores->row_stride,
	        .column_stride = scores->column_stride,
	        .classes = classes,
	        .type = scores->type,
	        .wide = classes >= WIDE_CLASSES,
	        .probs = probs,
	};
	size_t bad = 0;

	for (size_t first = 0; first < n; first += ROWS) {
		size_t rows = n - first < ROWS ? n - first : ROWS;
		struct result result;

		block_run(kernels, &block, scores, first, rows, gold, &result);
		bad += result_store_rows(&block, &result, first, rows, gold, columns, refused);
	}
	return bad;
}

#ifdef WITH_WIDE
#define AVX512 (bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)

/* Which instructions can be used: the processor has them, and the system saves their registers. 0: neither of these; 1:
 * AVX2; 2: AVX-512 too. (__builtin_cpu_supports() would add 4.5 kB to the library.) */
static int
processor_find_level(void)
{
	unsigned a, b, c, d, kept;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return 0;
	__asm__("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
	if ((kept & 0x06) != 0x06 || !(b & bit_AVX2)) /* the system saves xmm and ymm */
		return 0;
	return (kept & 0xe0) == 0xe0 && (b & AVX512) == AVX512 ? 2 : 1; /* and masks and zmm */
}

/* processor_find_level(), asked once only: on a virtual machine, asking takes microseconds. */
static int
processor_level(void)
{
	static _Atomic int found; /* level + 1 */
	int level = atomic_load_explicit(&found, memory_order_relaxed);

	if (level == 0) {
		level = processor_find_level() + 1;
		atomic_store_explicit(&found, level, memory_order_relaxed);
	}
	return level - 1;
}
#endif

const struct signals_kernels *
signals_kernels_named(const char *name)
{
#ifdef WITH_WIDE
	if (strcmp(name, "avx512") == 0 && processor_level() >= 2)
		return &avx512_kernels;
	if (strcmp(name, "avx2") == 0 && processor_level() >= 1)
		return &avx2_kernels;
#endif
	return strcmp(name, "plain") == 0 ? &plain_kernels : NULL;
}

static const struct signals_kernels *
kernels_best(void)
{
	const struct signals_kernels *kernels = signals_kernels_named("avx512");

	if (!kernels)
		kernels = signals_kernels_named("avx2");
	return kernels ? kernels : &plain_kernels;
}

size_t
signals_from_logits(const struct portolan_array *logits, size_t n, size_t classes, const int32_t *gold,
                    const struct signals_columns *columns, uint8_t *refused)
{
	return signals_derive(kernels_best(), logits, false, n, classes, gold, columns, refused);
}

size_t
signals_from_probs(const struct portolan_array *probs, size_t n, size_t classes, const int32_t *gold,
                   const struct signals_columns *columns, uint8_t *refused)
{
	return signals_derive(kernels_best(), probs, true, n, classes, gold, columns, refused);
}

double
signals_score(const struct portolan_array *scores, size_t row)
{
	const char *from = (const char *)scores->data + (ptrdiff_t)row * scores->row_stride;
	double x;
	float single;

	if (scores->type == PORTOLAN_F64) {
		memcpy(&x, from, sizeof(x));
		return x;
	}
	if (is_half(scores->type))
		widen(&plain_kernels, scores->type, &single, from, 0, 1);
	else
		memcpy(&single, from, sizeof(single));
	return single;
}

float
signals_exp(float x)
{
	return exp_nonpositive(x);
}

float
signals_log(float x)
{
	return log_positive(x);
}

float
signals_log1p(float x)
{
	return log1p_nonnegative(x);
}
