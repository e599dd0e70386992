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
 * and a probability near 1 leaves small, accurate numbers for all the others. In wide rows the float32 sums of a lane
 * are moved into float64 ones every 16 steps.
 */
#include "signals.h"

#include "signals_math.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define LANES 64
#define WIDE_CLASSES 33 /* from here on a row fills the lanes better than 64 rows do */
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
	double wide_rest, wide_other_sq, wide_weighted;
};

struct result {
	float margin[LANES], max_prob[LANES];
	int32_t predicted[LANES], bad[LANES];
};

/* Which class each lane looks at. */
static void
block_index(const struct block *block, size_t step, int32_t *index)
{
	for (int32_t j = 0; j < LANES; j++)
		index[j] = block->wide ? (int32_t)(step * LANES) + j : (int32_t)step;
}

/* In a wide row: adds the lanes to the row's float64 sums, every few steps and at the end. */
static void
sums_fold(struct sums *sums, const struct block *block, size_t step)
{
	if (!block->wide || (step % FOLD_STEPS != FOLD_STEPS - 1 && step + 1 < block->steps))
		return;
	for (int j = 0; j < LANES; j++) {
		sums->wide_rest += sums->rest[j];
		sums->wide_other_sq += sums->other_sq[j];
		sums->wide_weighted += sums->weighted[j];
		sums->rest[j] = sums->other_sq[j] = sums->weighted[j] = 0;
	}
}

/* After the last step the row's sums stand in lane 0. */
static void
sums_merge(struct sums *sums)
{
	float gold = 0;

	for (int j = 0; j < LANES; j++)
		gold += sums->gold[j]; /* one lane saw it */
	sums->gold[0] = gold;
	sums->rest[0] = (float)sums->wide_rest;
	sums->other_sq[0] = (float)sums->wide_other_sq;
	sums->weighted[0] = (float)sums->wide_weighted;
}

#define REAL float
#define REAL_MAX FLT_MAX
#define NAME(name) name##_f32
#include "signals_lanes.h"

#define REAL double
#define REAL_MAX DBL_MAX
#define NAME(name) name##_f64
#include "signals_lanes.h"

static void
finish_logits(struct sums *restrict sums, struct result *restrict result)
{
	for (int j = 0; j < LANES; j++) {
		float sum = 1.0f + sums->rest[j];

		sums->gold[j] /= sum;
		sums->other_sq[j] /= sum * sum;
		sums->weighted[j] = log1p_nonnegative(sums->rest[j]) + sums->weighted[j] / sum;
		result->max_prob[j] = 1.0f / sum;
	}
}

static void
finish_probs(const struct sums *restrict sums, struct result *restrict result)
{
	for (int j = 0; j < LANES; j++)
		result->bad[j] |= !(fabsf(sums->rest[j] - 1.0f) <= (float)SUM_TOLERANCE);
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
	for (size_t j = 0; j < count; j++) {
		columns->correct[first + j] = result->predicted[j] == block->gold[j];
		refused[first + j] = (uint8_t)result->bad[j];
		bad += (size_t)result->bad[j];
	}
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
