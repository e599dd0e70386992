/* tally.c: adds up the epochs of a run for `watch`, `epochs` and the live page: accuracy, confidence, loss, forgetting.
 * Correct predictions are counted for 64 examples at a time, in the words of the store's bitmaps. */
#include "tally.h"

#include "measures/log_product.h"

#include <math.h>
#include <string.h>

static unsigned
tally_ones(uint64_t word)
{
	return (unsigned)__builtin_popcountll(word);
}

static void
tally_sum_present(const float *values, uint64_t present, struct tally_epoch *epoch)
{
	double sum = 0, mantissa = 1;
	int64_t exponent = 0;

	for (; present; present &= present - 1) {
		double p = (double)values[__builtin_ctzll(present)];

		sum += p;
		log_product_multiply(&mantissa, &exponent, p);
	}
	epoch->gold_prob += sum;
	epoch->loss += log_product_loss(mantissa, exponent);
}

static double
tally_mean(double sum, const struct tally_epoch *epoch)
{
	return epoch->observed ? sum / (double)epoch->observed : NAN;
}

double
tally_accuracy(const void *epoch)
{
	const struct tally_epoch *of = epoch;

	return of->of_losses ? NAN : tally_mean((double)of->correct, of);
}

double
tally_confidence(const void *epoch)
{
	const struct tally_epoch *of = epoch;

	return of->of_losses ? NAN : tally_mean(of->gold_prob, of);
}

double
tally_mean_loss(const void *epoch)
{
	const struct tally_epoch *of = epoch;

	return tally_mean(of->of_losses ? of->gold_prob : of->loss, of);
}

void
tally_add(struct tally_block *block, const struct store_values *gold_prob, const struct store_values *correct,
          uint32_t rows, struct tally_epoch *epoch)
{
	const float *probabilities = gold_prob->values;
	const uint64_t *bits = correct->values;

	if (!gold_prob->present || !correct->present)
		return;
	for (uint32_t w = 0; w < (rows + 63) / 64; w++) {
		uint64_t present = gold_prob->present[w], right = bits[w] & present;
		uint64_t forgotten = block->right[w] & present & ~right;

		epoch->observed += tally_ones(present);
		epoch->correct += tally_ones(right);
		tally_sum_present(probabilities + (size_t)w * 64, present, epoch);
		epoch->forgotten += tally_ones(forgotten);
		epoch->learned += tally_ones(right & ~block->ever_right[w]);
		block->seen[w] |= present;
		block->right[w] = (block->right[w] & ~present) | right;
		block->ever_right[w] |= right;
		block->forgotten[w] |= forgotten;
	}
}

void
tally_count(const struct tally_block *block, struct tally_counts *counts)
{
	for (uint32_t w = 0; w < STORE_CHUNK_WORDS; w++) {
		counts->examples += tally_ones(block->seen[w]);
		counts->forgotten += tally_ones(block->forgotten[w]);
		counts->never_learned += tally_ones(block->seen[w] & ~block->ever_right[w]);
	}
}

void
tally_sample_grow(struct tally_sample *sample, uint64_t rows)
{
	if (sample->stride == 0)
		sample->stride = 1;
	if (rows > sample->rows)
		sample->rows = rows;
	while (tally_sample_points(sample) > TALLY_POINTS) {
		for (size_t i = 0; i < TALLY_POINTS / 2; i++)
			sample->points[i] = sample->points[2 * i];
		memset(sample->points + TALLY_POINTS / 2, 0, TALLY_POINTS / 2 * sizeof(*sample->points));
		sample->stride *= 2;
	}
}

size_t
tally_sample_points(const struct tally_sample *sample)
{
	return sample->stride ? (sample->rows + sample->stride - 1) / sample->stride : 0;
}

void
tally_sample_add(struct tally_sample *sample, const struct store_values *gold_prob, const struct store_values *correct,
                 uint32_t first, uint32_t rows)
{
	const float *values = gold_prob->values;
	const uint64_t *right = correct->values;
	uint64_t index = (first + sample->stride - 1) / sample->stride;

	if (!gold_prob->present)
		return;
	for (; index * sample->stride < (uint64_t)first + rows; index++) {
		uint32_t row = (uint32_t)(index * sample->stride - first);
		struct tally_point *point = &sample->points[index];
		double deviation;

		if (!(gold_prob->present[row / 64] >> row % 64 & 1))
			continue;
		deviation = (double)values[row] - point->mean;
		point->count++;
		point->right += right && right[row / 64] >> row % 64 & 1;
		point->mean += deviation / point->count;
		point->squares += deviation * ((double)values[row] - point->mean);
	}
}

double
tally_variability(const struct tally_point *point)
{
	return point->count ? sqrt(point->squares / point->count) : 0;
}
