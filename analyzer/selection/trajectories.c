/* trajectories.c: for the S2L rule of `portolan select`: chooses a subset that covers the different courses that
 * examples' losses take over the epochs. */
#include "trajectories.h"

#include "balanced.h"
#include "die/die.h"
#include "die/memory.h"
#include "statistics/k_means.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TIMES 20
#define SAMPLE 256 /* examples per cluster that determine the centres */
#define WORD 64u   /* rows of a word of bits */
#define LEAST 3    /* the least size of a cluster; smaller ones come last */

/* The losses of the block's rows, epoch after epoch for a word of rows. The columns of all epochs lie as far from one
 * another as the cache is wide, so row by row, no value would stay in the cache until the next row. */
static void
trajectories_read_word(const struct store_block *block, uint32_t from, uint32_t rows, bool of_losses, float *losses)
{
	size_t epochs = block->epoch_count;
	float last[WORD];

	for (uint32_t r = 0; r < rows; r++)
		last[r] = NAN;
	for (size_t e = 0; e < epochs; e++) {
		const struct store_values *p = store_block_values(block, e, STORE_GOLD_PROB);
		uint64_t present = p->present ? p->present[from / WORD] : 0;

		for (uint32_t r = 0; r < rows; r++) {
			float value = present ? ((const float *)p->values)[from + r] : 0;

			if (present >> r & 1)
				last[r] = of_losses ? value : -logf(fmaxf(value, FLT_MIN));
			losses[r * epochs + e] = last[r];
		}
	}
	for (uint32_t r = 0; r < rows; r++)
		for (size_t e = epochs; e-- > 0;) {
			last[r] = isnan(losses[r * epochs + e]) ? last[r] : losses[r * epochs + e];
			losses[r * epochs + e] = last[r];
		}
}

/* Reads all losses, by dense index; NaN for an example that was never observed. */
static void
trajectories_read(const struct dynamics *dynamics, float *losses)
{
	struct store_cursor *cursor;

	must(store_cursor_open(dynamics->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		struct store_block block;

		must(store_cursor_block(cursor, b, &block, &failure));
		for (uint32_t r = 0; r < block.rows; r += WORD)
			trajectories_read_word(&block, r, block.rows - r < WORD ? block.rows - r : WORD, dynamics->info->of_losses,
			                       losses + (size_t)(block.first + r) * dynamics->epoch_count);
	}
	store_cursor_close(cursor);
}

/* Finds the cluster of each of the n examples in `order`. The centres begin as the first of the examples drawn. */
static void
trajectories_cluster(struct k_means *means, const float *losses, const uint32_t *order, size_t n,
                     struct random_state *random, uint32_t *labels)
{
	size_t epochs = means->dimensions;
	size_t sample = n / SAMPLE < means->clusters ? n : means->clusters * SAMPLE;
	CLEANUP_ARRAY uint32_t *drawn = memory_array(n, sizeof(*drawn), "examples to draw from");

	memcpy(drawn, order, n * sizeof(*drawn));
	random_sample(random, drawn, n, sample);
	for (size_t k = 0; k < means->clusters; k++)
		for (size_t e = 0; e < epochs; e++)
			means->centres[k * epochs + e] = (double)losses[drawn[k] * epochs + e];
	k_means_fit(means, losses, drawn, sample, TIMES, labels);
	k_means_assign(means, losses, order, n, labels);
}

size_t
trajectories_rank(const struct trajectories *trajectories, size_t limit, uint32_t *ranked)
{
	const struct dynamics *dynamics = trajectories->dynamics;
	size_t n = trajectories->n, epochs = dynamics->epoch_count;
	size_t clusters = trajectories->clusters < n ? trajectories->clusters : n;
	CLEANUP_ARRAY double *centres = memory_array(clusters * epochs, sizeof(*centres), "centres");
	CLEANUP_ARRAY double *turned = memory_array(K_MEANS_PADDED(clusters) * epochs, sizeof(*turned), "centres");
	CLEANUP_ARRAY size_t *sizes = memory_array(clusters, sizeof(*sizes), "sizes of clusters");
	CLEANUP_ARRAY float *losses = memory_array(dynamics->ids.rows * epochs, sizeof(*losses), "losses");
	CLEANUP_ARRAY uint32_t *labels = memory_array(n, sizeof(*labels), "clusters of examples");
	struct k_means means = {
	        .clusters = clusters, .dimensions = epochs, .centres = centres, .turned = turned, .sizes = sizes};
	struct random_state random;

	trajectories_read(dynamics, losses);
	random_seed(&random, trajectories->seed);
	trajectories_cluster(&means, losses, trajectories->list, n, &random, labels);
	limit = limit < n ? limit : n;
	balanced_order(trajectories->list, labels, n, clusters, LEAST, &random, limit, ranked);
	return limit;
}
