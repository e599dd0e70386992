/* measures_losses.c: see measures_losses.h. The epochs are the outer loop within 64 rows, so that what is read twice is
 * found in the first-level cache. */
#include "measures_losses.h"

#include "log_product.h"

#include <math.h>

#define TILE 64u

struct losses {
	unsigned rows;
	double count[TILE], ema[TILE];
	double mean_epoch[TILE], mean_loss[TILE]; /* sums at first */
	double slope[TILE];
};

/* The losses of the tile's rows at one epoch; returns which are there. */
static uint64_t
losses_read(const struct store_block *block, size_t e, size_t word, unsigned rows, bool of_losses, double loss[TILE])
{
	const struct store_values *stored = store_block_values(block, e, STORE_GOLD_PROB);
	const uint64_t present = stored->present ? stored->present[word] : 0;

	for (unsigned r = 0; r < rows && present; r++) {
		double value = (double)((const float *)stored->values)[word * TILE + r];

		if (present >> r & 1)
			loss[r] = of_losses ? value : -log(value > 0 ? value : LOG_PRODUCT_LEAST);
	}
	return rows < TILE ? present & ((UINT64_C(1) << rows) - 1) : present;
}

static void
losses_sum(const struct store_block *block, const uint32_t *epochs, size_t word, bool of_losses, struct losses *sums)
{
	double loss[TILE];

	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint64_t rest = losses_read(block, e, word, sums->rows, of_losses, loss); rest; rest &= rest - 1) {
			unsigned r = (unsigned)__builtin_ctzll(rest);

			sums->count[r]++;
			sums->mean_epoch[r] += epochs[e];
			sums->mean_loss[r] += loss[r];
			sums->ema[r] += LOSS_EMA_ALPHA * (loss[r] - sums->ema[r]);
		}
	for (unsigned r = 0; r < sums->rows; r++) {
		sums->mean_epoch[r] /= sums->count[r];
		sums->mean_loss[r] /= sums->count[r];
	}
}

/* The lines by least squares, about the means, so that nothing cancels. */
static void
losses_fit(const struct store_block *block, const uint32_t *epochs, size_t word, bool of_losses, struct losses *sums)
{
	double loss[TILE], both[TILE] = {0}, square[TILE] = {0};

	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint64_t rest = losses_read(block, e, word, sums->rows, of_losses, loss); rest; rest &= rest - 1) {
			unsigned r = (unsigned)__builtin_ctzll(rest);
			double distance = epochs[e] - sums->mean_epoch[r];

			both[r] += distance * (loss[r] - sums->mean_loss[r]);
			square[r] += distance * distance;
		}
	for (unsigned r = 0; r < sums->rows; r++)
		sums->slope[r] = sums->count[r] >= 2 ? both[r] / square[r] : NAN;
}

static void
losses_deviate(const struct store_block *block, const uint32_t *epochs, size_t word, bool of_losses,
               const struct losses *sums, double *detrended)
{
	double loss[TILE], square[TILE] = {0};

	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint64_t rest = losses_read(block, e, word, sums->rows, of_losses, loss); rest; rest &= rest - 1) {
			unsigned r = (unsigned)__builtin_ctzll(rest);
			double line = sums->mean_loss[r] + sums->slope[r] * (epochs[e] - sums->mean_epoch[r]);

			square[r] += (loss[r] - line) * (loss[r] - line);
		}
	for (unsigned r = 0; r < sums->rows; r++)
		detrended[r] = sums->count[r] >= 3 ? sqrt(square[r] / sums->count[r]) : NAN;
}

void
measures_losses(const struct store_block *block, const uint32_t *epochs, bool of_losses, double *ema, double *speed,
                double *detrended)
{
	for (size_t word = 0; word * TILE < block->rows; word++) {
		size_t first = word * TILE, rest = block->rows - first;
		struct losses sums = {.rows = rest < TILE ? (unsigned)rest : TILE};

		losses_sum(block, epochs, word, of_losses, &sums);
		for (unsigned r = 0; ema && r < sums.rows; r++)
			ema[first + r] = sums.count[r] > 0 ? sums.ema[r] : NAN;
		if (!speed && !detrended)
			continue;
		losses_fit(block, epochs, word, of_losses, &sums);
		for (unsigned r = 0; speed && r < sums.rows; r++)
			speed[first + r] = 0 - sums.slope[r]; /* no −0 */
		if (detrended)
			losses_deviate(block, epochs, word, of_losses, &sums, detrended + first);
	}
}
