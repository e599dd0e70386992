/* measures_tile.c: the sums of 64 examples over the epochs of a block (measures_tile.h). The inner loops have a constant
 * length, so the compiler makes vector code of them. An absent value is replaced, as it is loaded, by one that adds
 * nothing. */
#include "measures_tile.h"

#include "log_product.h"

#include <math.h>
#include <string.h>

#define ALL UINT64_MAX
#define PLANES 32

/* Plane k holds bit k of 64 counters. */
struct counters {
	uint64_t plane[PLANES];
};

struct tile
tile_at(const struct store_block *block, size_t word)
{
	unsigned rest = block->rows - (unsigned)word * TILE;
	unsigned rows = rest < TILE ? rest : TILE;

	return (struct tile){block, word, rows, rows == TILE ? ALL : (UINT64_C(1) << rows) - 1, NAN};
}

uint64_t
tile_present(const struct tile *tile, size_t epoch, unsigned column)
{
	const struct store_values *values = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];

	return values->present ? values->present[tile->word] & tile->valid : 0;
}

/* The rows that were right at the epoch. */
static uint64_t
tile_right(const struct tile *tile, size_t epoch)
{
	const bool by_loss = !isnan(tile->threshold);
	const unsigned column = by_loss ? STORE_GOLD_PROB : STORE_CORRECT;
	const struct store_values *values = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];
	const uint64_t present = tile_present(tile, epoch, column);
	uint64_t right = 0;

	if (!by_loss)
		return values->present ? ((const uint64_t *)values->values)[tile->word] & present : 0;
	for (uint64_t rest = present; rest != 0; rest &= rest - 1) {
		size_t r = (size_t)__builtin_ctzll(rest);

		if ((double)((const float *)values->values)[tile->word * TILE + r] <= tile->threshold)
			right |= rest & -rest;
	}
	return right;
}

void
tile_load(const struct tile *tile, size_t epoch, unsigned column, uint64_t present, const double *fill, double *values)
{
	const struct store_values *stored = &tile->block->columns[epoch * STORE_COLUMN_MAX + column];
	const float *from = stored->values ? (const float *)stored->values + tile->word * TILE : NULL;

	if (present == ALL) {
		for (unsigned r = 0; r < TILE; r++)
			values[r] = (double)from[r];
		return;
	}
	memcpy(values, fill, TILE * sizeof(*values));
	for (uint64_t rest = present; rest != 0; rest &= rest - 1) {
		unsigned r = (unsigned)__builtin_ctzll(rest);

		values[r] = (double)from[r];
	}
}

/* Adds one to the counters whose bit is set: a carry goes up through the planes. */
static void
counters_add(struct counters *counters, uint64_t bits)
{
	for (unsigned k = 0; bits != 0; k++) {
		uint64_t carry = counters->plane[k] & bits;

		counters->plane[k] ^= bits;
		bits = carry;
	}
}

static void
counters_read(const struct counters *counters, double *values)
{
	uint32_t sums[TILE] = {0};

	for (unsigned k = 0; k < PLANES; k++) {
		uint64_t plane = counters->plane[k];

		if (plane == 0)
			continue;
		for (unsigned r = 0; r < TILE; r++)
			sums[r] += (uint32_t)(plane >> r & 1) << k;
	}
	for (unsigned r = 0; r < TILE; r++)
		values[r] = sums[r];
}

void
tile_fill(double *values, double value)
{
	for (unsigned r = 0; r < TILE; r++)
		values[r] = value;
}

void
tile_count(const struct tile *tile, unsigned first, unsigned second, double *counts)
{
	struct counters counters = {0};
	double more[TILE];

	for (size_t e = 0; e < tile->block->epoch_count; e++)
		counters_add(&counters, tile_present(tile, e, first) & tile_present(tile, e, second));
	counters_read(&counters, more);
	for (unsigned r = 0; r < TILE; r++)
		counts[r] += more[r];
}

void
tile_add(const struct tile *tile, unsigned column, double *sums)
{
	double zero[TILE] = {0}, values[TILE];

	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, column, tile_present(tile, e, column), zero, values);
		for (unsigned r = 0; r < TILE; r++)
			sums[r] += values[r];
	}
}

void
tile_add_aleatoric(const struct tile *tile, double *sums)
{
	double zero[TILE] = {0}, p[TILE];

	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, STORE_GOLD_PROB, tile_present(tile, e, STORE_GOLD_PROB), zero, p);
		for (unsigned r = 0; r < TILE; r++)
			sums[r] += p[r] * (1 - p[r]);
	}
}

void
tile_multiply(const struct tile *tile, double *mantissas, int64_t *exponents)
{
	double one[TILE], p[TILE];

	tile_fill(one, 1);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		tile_load(tile, e, STORE_GOLD_PROB, tile_present(tile, e, STORE_GOLD_PROB), one, p);
		for (unsigned r = 0; r < TILE; r++)
			log_product_multiply(&mantissas[r], &exponents[r], p[r]);
	}
}

/* Sets values[r] for each row r whose bit is set. */
static void
tile_set(double *values, uint64_t bits, double value)
{
	for (; bits != 0; bits &= bits - 1)
		values[__builtin_ctzll(bits)] = value;
}

void
tile_learn(const struct tile *tile, const uint32_t *epochs, struct tile_learning *learning)
{
	struct counters epoch_count = {0}, correct_count = {0}, forgotten_count = {0};
	double more[3][TILE];

	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		uint64_t present = tile_present(tile, e, STORE_GOLD_PROB);
		uint64_t correct = tile_right(tile, e) & present;

		counters_add(&epoch_count, present);
		counters_add(&correct_count, correct);
		counters_add(&forgotten_count, learning->right & present & ~correct);
		tile_set(learning->first, correct & ~learning->learned, epochs[e]);
		tile_set(learning->since, present & (~learning->observed | (learning->right ^ correct)), epochs[e]);
		learning->right = (learning->right & ~present) | correct;
		learning->learned |= correct;
		learning->observed |= present;
	}
	counters_read(&epoch_count, more[0]);
	counters_read(&correct_count, more[1]);
	counters_read(&forgotten_count, more[2]);
	for (unsigned r = 0; r < TILE; r++) {
		learning->epochs[r] += more[0][r];
		learning->correct[r] += more[1][r];
		learning->forgotten[r] += more[2][r];
	}
}

void
tile_add_el2n(const struct tile *tile, double *sums)
{
	double zero[TILE] = {0}, one[TILE], p[TILE], others[TILE];

	tile_fill(one, 1);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		uint64_t present = tile_present(tile, e, STORE_GOLD_PROB) & tile_present(tile, e, STORE_OTHER_SQ);

		tile_load(tile, e, STORE_GOLD_PROB, present, one, p);
		tile_load(tile, e, STORE_OTHER_SQ, present, zero, others);
		for (unsigned r = 0; r < TILE; r++)
			sums[r] += sqrt((1 - p[r]) * (1 - p[r]) + others[r]);
	}
}

/*
 * The largest other probability is not recorded. Where the gold label is not the most probable class, it is max_prob.
 * Where it is, it follows from the margin of the logits z: p − p_k = p (1 − e^(z_k − z)), and the difference of two
 * float32 near each other is avoided. Neither multiplies an infinity by a p that has underflowed to 0.
 */
static double
prob_margin(double p, double margin, double max_prob)
{
	return margin > 0 ? -p * expm1(-margin) : p - max_prob;
}

void
tile_add_prob_margin(const struct tile *tile, double *sums, double *counts)
{
	double zero[TILE] = {0}, p[TILE], margin[TILE], max_prob[TILE];

	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		uint64_t present = tile_present(tile, e, STORE_GOLD_PROB) & tile_present(tile, e, STORE_MARGIN) &
		                   tile_present(tile, e, STORE_MAX_PROB);

		tile_load(tile, e, STORE_GOLD_PROB, present, zero, p);
		tile_load(tile, e, STORE_MARGIN, present, zero, margin);
		tile_load(tile, e, STORE_MAX_PROB, present, zero, max_prob);
		for (unsigned r = 0; r < TILE; r++) {
			sums[r] += prob_margin(p[r], margin[r], max_prob[r]);
			counts[r] += (double)(present >> r & 1);
		}
	}
}
