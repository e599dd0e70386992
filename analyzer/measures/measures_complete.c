/*
 * measures_complete.c: the fast way of measures.c for complete blocks, in which every example has every epoch. Most
 * blocks are complete, and need no check per row.
 *
 * The loops are plain ones over a constant number of rows, of which the compiler makes vector code (widths.h). A few
 * rows at a time are read twice, for mean and deviation: the second time from the first-level cache. Correct and
 * forgotten epochs are counted in bit planes (plane k has bit k of 64 numbers), eight words of them side by side. A
 * byte of a plane then becomes eight bytes, each a number below 256, which limits the epochs.
 *
 * The operations and their order are those of measures.c for each row, without any contraction, so the results are the
 * same to the last bit.
 */
#include "measures_complete.h"

#include "base/widths.h"
#include "log_product.h"

#include <math.h>
#include <string.h>

#define TILE 64u /* rows of a word of bits */
#define ROWS 16u /* rows whose sums are held in registers */
#define WORDS 8u /* words that are worked on side by side */
#define EPOCHS_MOST 255u
#define PLANES_MOST 8u

struct complete {
	size_t epochs;
	double count; /* the number of epochs, for division */
	const float *gold_prob[EPOCHS_MOST];
	const uint64_t *correct[EPOCHS_MOST];
	double numbers[EPOCHS_MOST + 1]; /* the epochs' numbers, as doubles; the last is NaN, for none */
	double *const *out;
};

/* 512 numbers: bit b of planes[k][w] is bit k of number 64 w + b. */
struct numbers {
	uint64_t planes[PLANES_MOST][WORDS];
};

/* The state of 512 rows after some epochs. */
struct learning {
	struct numbers correct, forgotten, learned_at, since;
	uint64_t right[WORDS], learned[WORDS];
};

/* Adds one to each number whose bit is set. */
INLINE void
numbers_add(struct numbers *numbers, unsigned planes, const uint64_t bits[WORDS])
{
	uint64_t carry[WORDS];

	memcpy(carry, bits, sizeof(carry));
	for (unsigned k = 0; k < planes; k++)
		for (unsigned w = 0; w < WORDS; w++) {
			uint64_t both = numbers->planes[k][w] & carry[w];

			numbers->planes[k][w] ^= carry[w];
			carry[w] = both;
		}
}

/* Sets each number whose bit is set to `number`. */
INLINE void
numbers_set(struct numbers *numbers, unsigned planes, const uint64_t bits[WORDS], unsigned number)
{
	for (unsigned k = 0; k < planes; k++) {
		uint64_t bit = -(uint64_t)(number >> k & 1);

		for (unsigned w = 0; w < WORDS; w++)
			numbers->planes[k][w] = (numbers->planes[k][w] & ~bits[w]) | (bit & bits[w]);
	}
}

/* Reads the 64 numbers of word w. */
INLINE void
numbers_read(const struct numbers *numbers, unsigned planes, unsigned w, uint8_t to[TILE])
{
	uint64_t eights[TILE / 8] = {0};

	for (unsigned k = 0; k < planes; k++)
		for (unsigned g = 0; g < TILE / 8; g++) {
			uint64_t byte = numbers->planes[k][w] >> 8 * g & 0xff;

			/* the byte is spread: its bit i moves to byte i */
			byte = (byte | byte << 28) & UINT64_C(0x0000000f0000000f);
			byte = (byte | byte << 14) & UINT64_C(0x0003000300030003);
			byte = (byte | byte << 7) & UINT64_C(0x0101010101010101);
			eights[g] |= byte << k;
		}
	memcpy(to, eights, TILE);
}

INLINE void
put_numbers(double *to, const uint8_t numbers[TILE])
{
	for (unsigned r = 0; r < TILE; r++)
		to[r] = numbers[r];
}

INLINE void
put_fractions(double *to, const uint8_t numbers[TILE], double count)
{
	for (unsigned r = 0; r < TILE; r++)
		to[r] = numbers[r] / count;
}

/* Writes for each row the number of its epoch; NaN where the bit of `none` is set. */
INLINE void
put_epochs(const struct complete *c, double *to, struct numbers epochs, unsigned planes, const uint64_t none[WORDS],
           unsigned words)
{
	uint8_t numbers[TILE];

	numbers_set(&epochs, planes, none, (unsigned)c->epochs);
	for (unsigned w = 0; w < words; w++) {
		numbers_read(&epochs, planes, w, numbers);
		for (unsigned r = 0; r < TILE; r++)
			to[w * TILE + r] = c->numbers[numbers[r]];
	}
}

INLINE void
put_learning(const struct complete *c, const struct learning *l, unsigned planes, size_t at, unsigned words)
{
	uint8_t numbers[TILE];
	double *const *out = c->out;

	for (unsigned w = 0; w < words && out[MEASURE_CORRECTNESS]; w++) {
		numbers_read(&l->correct, planes, w, numbers);
		put_fractions(out[MEASURE_CORRECTNESS] + at + w * TILE, numbers, c->count);
	}
	for (unsigned w = 0; w < words && out[MEASURE_FORGETTING_EVENTS]; w++) {
		numbers_read(&l->forgotten, planes, w, numbers);
		put_numbers(out[MEASURE_FORGETTING_EVENTS] + at + w * TILE, numbers);
	}
	for (unsigned w = 0; w < words && out[MEASURE_NEVER_LEARNED]; w++) {
		struct numbers never = {{{~l->learned[w]}}};

		numbers_read(&never, 1, 0, numbers);
		put_numbers(out[MEASURE_NEVER_LEARNED] + at + w * TILE, numbers);
	}
}

/* Fills, for each row, the epoch since which it has been right, or wrong, to the end; and the first epoch at which it
 * was right. */
INLINE void
put_times(const struct complete *c, const struct learning *l, unsigned planes, size_t at, unsigned words)
{
	uint64_t unlearned[WORDS], wrong[WORDS];
	double *const *out = c->out;

	for (unsigned w = 0; w < WORDS; w++) {
		unlearned[w] = ~l->learned[w];
		wrong[w] = ~l->right[w];
	}
	if (out[MEASURE_FIRST_LEARNED])
		put_epochs(c, out[MEASURE_FIRST_LEARNED] + at, l->learned_at, planes, unlearned, words);
	if (out[MEASURE_ALWAYS_RIGHT_AFTER])
		put_epochs(c, out[MEASURE_ALWAYS_RIGHT_AFTER] + at, l->since, planes, wrong, words);
	if (out[MEASURE_ALWAYS_WRONG_AFTER])
		put_epochs(c, out[MEASURE_ALWAYS_WRONG_AFTER] + at, l->since, planes, l->right, words);
}

/* Fills the measures of learning for `words` ≤ WORDS words of rows from row `at` on. */
INLINE void
learning(const struct complete *c, size_t at, unsigned words, unsigned planes, bool times)
{
	struct learning l = {0};

	for (size_t e = 0; e < c->epochs; e++) {
		uint64_t now[WORDS] = {0}, lost[WORDS], changed[WORDS], first[WORDS];

		memcpy(now, c->correct[e] + at / TILE, words * sizeof(*now));
		for (unsigned w = 0; w < WORDS; w++) {
			lost[w] = l.right[w] & ~now[w];
			changed[w] = l.right[w] ^ now[w];
			first[w] = now[w] & ~l.learned[w];
			l.right[w] = now[w];
			l.learned[w] |= now[w];
		}
		numbers_add(&l.correct, planes, now);
		numbers_add(&l.forgotten, planes, lost);
		if (times) {
			numbers_set(&l.learned_at, planes, first, (unsigned)e);
			numbers_set(&l.since, planes, changed, (unsigned)e);
		}
	}
	put_learning(c, &l, planes, at, words);
	if (times)
		put_times(c, &l, planes, at, words);
}

INLINE void
losses(const struct complete *c, size_t at)
{
	double mantissas[ROWS], *to = c->out[MEASURE_LOSS] + at;
	int64_t exponents[ROWS] = {0};

	for (unsigned r = 0; r < ROWS; r++)
		mantissas[r] = 1;
	for (size_t e = 0; e < c->epochs; e++)
		for (unsigned r = 0; r < ROWS; r++)
			log_product_multiply(&mantissas[r], &exponents[r], (double)c->gold_prob[e][at + r]);
	for (unsigned r = 0; r < ROWS; r++)
		to[r] = log_product_loss(mantissas[r], exponents[r]) / c->count;
}

INLINE void
probabilities(const struct complete *c, size_t at)
{
	double mean[ROWS] = {0}, variance[ROWS] = {0}, uncertain[ROWS] = {0};
	const size_t epochs = c->epochs;
	const double count = c->count;
	double *const *out = c->out;

	for (size_t e = 0; e < epochs; e++) {
		const float *p = c->gold_prob[e] + at;

		for (unsigned r = 0; r < ROWS; r++)
			mean[r] += (double)p[r];
	}
	for (unsigned r = 0; r < ROWS; r++)
		mean[r] /= count;
	if (out[MEASURE_EPOCHS])
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_EPOCHS][at + r] = count;
	if (out[MEASURE_CONFIDENCE])
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_CONFIDENCE][at + r] = mean[r];
	if (out[MEASURE_THRESHOLD_CLOSENESS])
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_THRESHOLD_CLOSENESS][at + r] = mean[r] * (1 - mean[r]);
	if (out[MEASURE_VARIABILITY]) {
		for (size_t e = 0; e < epochs; e++) {
			const float *p = c->gold_prob[e] + at; /* with c->gold_prob[e][at + r] it takes row by row */

			for (unsigned r = 0; r < ROWS; r++)
				variance[r] += ((double)p[r] - mean[r]) * ((double)p[r] - mean[r]);
		}
		for (unsigned r = 0; r < ROWS; r++)
			variance[r] /= count;
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_VARIABILITY][at + r] = sqrt(variance[r]);
	}
	if (out[MEASURE_VARIABILITY_CI])
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_VARIABILITY_CI][at + r] =
			        epochs == 1 ? (double)NAN : sqrt(variance[r] + variance[r] * variance[r] / (count - 1));
	if (out[MEASURE_ALEATORIC]) {
		for (size_t e = 0; e < epochs; e++) {
			const float *p = c->gold_prob[e] + at;

			for (unsigned r = 0; r < ROWS; r++)
				uncertain[r] += (double)p[r] * (1 - (double)p[r]);
		}
		for (unsigned r = 0; r < ROWS; r++)
			out[MEASURE_ALEATORIC][at + r] = uncertain[r] / count;
	}
	if (out[MEASURE_LOSS])
		losses(c, at);
}

/* Fills the measures of probabilities for `words` words of rows. */
FOR_EACH_WIDTH static void
probabilities_all(const struct complete *c, size_t words)
{
	for (size_t w = 0; w < words; w++) {
		/* There is a stream of memory for each epoch, more than processors prefetch by themselves. So the word
		 * after the next is fetched here, which saves a fifth of the time while the columns are not in the
		 * cache yet. */
		for (size_t e = 0; e < c->epochs; e++)
			for (unsigned line = 0; line < TILE; line += 16)
				__builtin_prefetch(c->gold_prob[e] + (w + 2) * TILE + line);
		for (unsigned r = 0; r < TILE; r += ROWS)
			probabilities(c, w * TILE + r);
	}
}

/* Fills the measures of learning for whole words. Numbers up to `epochs` mostly take four planes, for which there is
 * code of its own. */
FOR_EACH_WIDTH static void
learning_all(const struct complete *c, size_t words, bool times)
{
	for (size_t w = 0; w < words; w += WORDS) {
		unsigned n = words - w < WORDS ? (unsigned)(words - w) : WORDS;

		if (c->epochs < 16)
			learning(c, w * TILE, n, 4, times);
		else
			learning(c, w * TILE, n, PLANES_MOST, times);
	}
}

uint32_t
measures_complete(const struct store_block *block, const uint32_t *epochs, double *const out[MEASURE_COUNT])
{
	struct complete complete;
	bool times = out[MEASURE_FIRST_LEARNED] || out[MEASURE_ALWAYS_RIGHT_AFTER] || out[MEASURE_ALWAYS_WRONG_AFTER];

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
	}
	complete.numbers[complete.epochs] = NAN;
	probabilities_all(&complete, block->rows / TILE);
	if (times || out[MEASURE_CORRECTNESS] || out[MEASURE_FORGETTING_EVENTS] || out[MEASURE_NEVER_LEARNED])
		learning_all(&complete, block->rows / TILE, times);
	return block->rows / TILE * TILE;
}
