/*
 * signals.h: derives what is recorded of an example, its signals, from a row of logits or probabilities; for
 * portolan_log().
 *
 * Pure functions: no I/O, no allocation, no globals. Scores are float16, bfloat16, float32 or float64 with any
 * strides, in any alignment. Half precision is widened to float32, which is exact. The maximum is subtracted in the
 * precision of the input; what follows is float32 arithmetic, so results are within some ulp of float32. Terms below
 * FLT_MIN (an entropy below some 1e-36, therefore) become 0.
 *
 * A row of one score is a class 1 against a class 0: its logit against 0 (sigmoid), or its probability.
 *
 * Rows that cannot be used are refused: NaN or +inf anywhere, −inf at the gold label; probabilities outside
 * [−1e-6, 1 + 1e-6], or with a sum (classes ≥ 2) that is off 1 by more than 0.01. Within that they are cut to [0, 1].
 */
#ifndef CLIENT_SIGNALS_H
#define CLIENT_SIGNALS_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* An array of n values for each signal; none may be NULL. The values of refused rows are unspecified. */
struct signals_columns {
	float *gold_prob; /* p(gold) */
	float *margin; /* z_gold − the largest other z (Pleiss et al. 2020, §3.1), cut to ±FLT_MAX; only from logits */
	float *other_sq; /* Σ p² over the classes other than gold */
	float *entropy;  /* −Σ p ln p, in nats */
	float *max_prob;
	int32_t *predicted; /* argmax, ties to the lowest class */
	uint8_t *correct;   /* predicted = gold: 0 or 1 */
};

/* Derives the signals of n rows of `classes` scores each. The caller must have checked that gold[r] is within 0 …
 * classes−1 (0 or 1 when classes = 1). refused[r] becomes 1 for a row that is refused, else 0. Returns how many are
 * refused. */
size_t signals_from_logits(const struct portolan_array *logits, size_t n, size_t classes, const int32_t *gold,
                           const struct signals_columns *columns, uint8_t *refused);
size_t signals_from_probs(const struct portolan_array *probs, size_t n, size_t classes, const int32_t *gold,
                          const struct signals_columns *columns, uint8_t *refused);

/* Takes signals that were derived elsewhere: n × SIGNALS_GIVEN adjacent floats, in the order of struct signals_columns
 * up to `predicted`. Refuses a row with a value that is not finite, or with a gold_prob that is not a probability. */
#define SIGNALS_GIVEN 6
size_t signals_given(const struct portolan_array *block, size_t n, const int32_t *gold,
                     const struct signals_columns *columns, uint8_t *refused);

/* The first score of a row. */
double signals_score(const struct portolan_array *scores, size_t row);

/* For tests: the loops over logits as compiled for one kind of processor, "plain", "avx2" or "avx512"; NULL if this
 * processor, or the compiler, has no such kind. All kinds give the same bits; signals_from_logits() uses the best.
 */
const struct signals_kernels *signals_kernels_named(const char *name);
size_t signals_derive(const struct signals_kernels *kernels, const struct portolan_array *scores, bool probs, size_t n,
                      size_t classes, const int32_t *gold, const struct signals_columns *columns, uint8_t *refused);

/* For tests, the functions of signals_math.h: e^x for x ≤ 0 (0 where that is below FLT_MIN); ln x for x ≥ FLT_MIN;
 * ln(1 + x) for x ≥ 0. */
float signals_exp(float x);
float signals_log(float x);
float signals_log1p(float x);

#endif
