/*
 * signals.c: gold probability, correctness, margin, Σ p² of the others, entropy, largest probability, prediction.
 *
 * Work goes in blocks of 64 lanes, so that vector instructions do it. With few classes (the common case) a lane is a
 * row, and a step looks at one class of 64 rows; with many a lane is a 64th of the row's classes, merged at
 * the end of the row. The loops themselves are in signals_lanes.h, once for float32 and once for float64 input.
 *
 * Stability: with m the maximum, e_k = e^(z_k − m) and rest = Σ e_k besides the maximum's own 1,
 *	p_k = e_k / (1 + rest)		Σ p² over k ≠ gold = Σ e_k² / (1 + rest)²	margin from z itself
 *	entropy = ln(1 + rest) + Σ e_k (m − z_k) / (1 + rest)		every term ≥ 0, so nothing cancels
 * and a probability near 1 leaves small, accurate numbers for all the others. The float32 sums of a lane are moved
 * into float64 ones every 16 steps. Which of the two ways is taken depends on the number of classes alone: a row's
 * signals are the same bits whatever batch it is in.
 */
#include "signals.h"

#include "signals_math.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define LANES 64
#define WIDE_CLASSES 129 /* from here on a row fills the lanes well, also when it is alone */
#define FOLD_STEPS 16
#define PROB_TOLERANCE 1e-6
#define SUM_TOLERANCE 0.01

struct block {
	const char *data; /* the first row */
	ptrdiff_t row_stride, column_stride;
	size_t rows, classes, steps;
	double pad; /* what wide rows are filled up with: a score that changes nothing */
	bool wide, probs;
	int32_t gold[LANES];
};

struct sums {
	float rest[LANES], other_sq[LANES], weighted[LANES], gold[LANES];
	double total_rest[LANES], total_other_sq[LANES], total_weighted[LANES];
};

struct result {
	float margin[LANES], max_prob[LANES];
	int32_t predicted[LANES], bad[LANES];
	uint8_t correct[LANES], refused[LANES];
};

/* Which class each lane looks at. */
static void
block_index(const struct block *block, size_t step, int32_t *index)
{
	for (int32_t j = 0; j < LANES; j++)
		index[j] = block->wide ? (int32_t)(step * LANES) + j : (int32_t)step;
}

/* Every few steps, and after the last, moves a lane's sums into its totals; at the end the totals are the sums. */
static void
sums_fold(struct sums *sums, const struct block *block, size_t step)
{
	bool last = step + 1 == block->steps;

	if (block->steps <= FOLD_STEPS || (step % FOLD_STEPS != FOLD_STEPS - 1 && !last))
		return;
	for (int j = 0; j < LANES; j++) {
		sums->total_rest[j] += sums->rest[j];
		sums->total_other_sq[j] += sums->other_sq[j];
		sums->total_weighted[j] += sums->weighted[j];
		sums->rest[j] = last ? (float)sums->total_rest[j] : 0;
		sums->other_sq[j] = last ? (float)sums->total_other_sq[j] : 0;
		sums->weighted[j] = last ? (float)sums->total_weighted[j] : 0;
	}
}

/* The lanes of a wide row become one, lane 0. */
static void
sums_merge(struct sums *sums)
{
	double rest = 0, other_sq = 0, weighted = 0;
	float gold = 0;

	for (int j = 0; j < LANES; j++) {
		rest += sums->rest[j];
		other_sq += sums->other_sq[j];
		weighted += sums->weighted[j];
		gold += sums->gold[j]; /* one lane saw it */
	}
	sums->rest[0] = (float)rest;
	sums->other_sq[0] = (float)other_sq;
	sums->weighted[0] = (float)weighted;
	sums->gold[0] = gold;
}

/* Each loop over the lanes is a function of its own: inlined, `restrict` is lost, and with it much of the speed. */
#define LOOP __attribute__((noinline)) static void

#define REAL float
#define REAL_MAX FLT_MAX
#define NAME(name) name##_f32
#include "signals_lanes.h"

#define REAL double
#define REAL_MAX DBL_MAX
#define NAME(name) name##_f64
#include "signals_lanes.h"

LOOP
finish_logits(struct sums *restrict sums, struct result *restrict result)
{
	for (int j = 0; j < LANES; j++) {
		float rest = sums->rest[j], share = 1.0f / (1.0f + rest);

		sums->gold[j] *= share;
		sums->other_sq[j] *= share * share;
		sums->weighted[j] = log1p_nonnegative(rest) + sums->weighted[j] * share;
		result->max_prob[j] = share;
	}
}

LOOP
finish_probs(const struct sums *restrict sums, struct result *restrict result)
{
	for (int j = 0; j < LANES; j++)
		result->bad[j] |= !(fabsf(sums->rest[j] - 1.0f) <= (float)SUM_TOLERANCE);
}

LOOP
finish_flags(struct result *restrict result, const int32_t *restrict gold)
{
	for (int j = 0; j < LANES; j++) {
		result->correct[j] = result->predicted[j] == gold[j];
		result->refused[j] = result->bad[j] != 0;
	}
}

/* Copies the lanes out as rows first, first + 1, …; returns how many are refused. */
static size_t
store_rows(const struct block *block, const struct sums *sums, const struct result *result, size_t first,
           const struct signals_columns *columns, uint8_t *refused)
{
	size_t count = block->wide ? 1 : block->rows, bad = 0;

	memcpy(columns->gold_prob + first, sums->gold, count * sizeof(float));
	memcpy(columns->other_sq + first, sums->other_sq, count * sizeof(float));
	memcpy(columns->entropy + first, sums->weighted, count * sizeof(float));
	memcpy(columns->max_prob + first, result->max_prob, count * sizeof(float));
	memcpy(columns->predicted + first, result->predicted, count * sizeof(int32_t));
	if (!block->probs)
		memcpy(columns->margin + first, result->margin, count * sizeof(float));
	memcpy(columns->correct + first, result->correct, count);
	memcpy(refused + first, result->refused, count);
	for (size_t j = 0; j < count; j++)
		bad += result->refused[j];
	return bad;
}

static void
block_run(const struct block *block, enum portolan_type type, struct sums *sums, struct result *result)
{
	memset(sums, 0, sizeof(*sums));
	if (block->probs) {
		if (type == PORTOLAN_F32)
			block_probs_f32(block, sums, result);
		else
			block_probs_f64(block, sums, result);
	} else {
		if (type == PORTOLAN_F32)
			block_logits_f32(block, sums, result);
		else
			block_logits_f64(block, sums, result);
	}
	if (block->wide)
		sums_merge(sums);
	if (block->probs)
		finish_probs(sums, result);
	else
		finish_logits(sums, result);
	finish_flags(result, block->gold);
}

static size_t
signals_run(const struct portolan_array *scores, bool probs, size_t n, size_t classes, const int32_t *gold,
            const struct signals_columns *columns, uint8_t *refused)
{
	bool wide = classes >= WIDE_CLASSES;
	size_t per_block = wide ? 1 : LANES, bad = 0;
	struct block block = {
	        .row_stride = scores->row_stride,
	        .column_stride = scores->column_stride,
	        .classes = classes,
	        .steps = wide           ? (classes + LANES - 1) / LANES
	                 : classes == 1 ? 2
	                                : classes,
	        .pad = probs ? 0 : -INFINITY,
	        .wide = wide,
	        .probs = probs,
	};

	for (size_t first = 0; first < n; first += per_block) {
		struct sums sums;
		struct result result;

		block.data = (const char *)scores->data + (ptrdiff_t)first * scores->row_stride;
		block.rows = n - first < per_block ? n - first : per_block;
		for (size_t j = 0; j < LANES; j++)
			block.gold[j] = wide ? gold[first] : j < block.rows ? gold[first + j] : 0;
		block_run(&block, scores->type, &sums, &result);
		bad += store_rows(&block, &sums, &result, first, columns, refused);
	}
	return bad;
}

size_t
signals_from_logits(const struct portolan_array *logits, size_t n, size_t classes, const int32_t *gold,
                    const struct signals_columns *columns, uint8_t *refused)
{
	return signals_run(logits, false, n, classes, gold, columns, refused);
}

size_t
signals_from_probs(const struct portolan_array *probs, size_t n, size_t classes, const int32_t *gold,
                   const struct signals_columns *columns, uint8_t *refused)
{
	return signals_run(probs, true, n, classes, gold, columns, refused);
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
