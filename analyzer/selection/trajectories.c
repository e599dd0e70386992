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
#define SAMPLE 256        /* examples per cluster that determine the centres */
#define WORD 64u          /* rows of a word of bits */
#define LEAST 3           /* the least size of a cluster; smaller ones come last */
#define BETTER (1 - 1e-9) /* a start's sum of squares is below this times that of another: it is better */

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
				last[r] = of_losses ? value : -logf(value > FLT_MIN ? value : FLT_MIN);
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
			trajectories_read_word(&block, r, block.rows - r < WORD ? block.rows - r : WORD,
			                       dynamics->info->of_losses,
			                       losses + (size_t)(block.first + r) * dynamics->epoch_count);
	}
	store_cursor_close(cursor);
}

/* Finds the cluster of each of the n examples in `order`. The centres begin as the first of the examples drawn, and in
 * each further start as others of them. */
static void
trajectories_cluster(struct k_means *means, const float *losses, const uint32_t *order, size_t n, size_t starts,
                     struct random_state *random, uint32_t *labels)
{
	size_t epochs = means->dimensions, bytes = means->clusters * epochs * sizeof(*means->centres);
	CLEANUP_ARRAY double *best = memory_array(means->clusters * epochs, sizeof(*best), "centres");
	double least = INFINITY;
	size_t sample = n / SAMPLE < means->clusters ? n : means->clusters * SAMPLE;
	CLEANUP_ARRAY uint32_t *drawn = memory_array(n, sizeof(*drawn), "examples to draw from");

	memcpy(drawn, order, n * sizeof(*drawn));
	random_sample(random, drawn, n, sample);
	for (size_t s = 0; s < starts; s++) {
		double squares;

		if (s > 0)
			random_sample(random, drawn, sample, means->clusters);
		for (size_t k = 0; k < means->clusters; k++)
			for (size_t e = 0; e < epochs; e++)
				means->centres[k * epochs + e] = (double)losses[drawn[k] * epochs + e];
		k_means_fit(means, losses, drawn, sample, TIMES, labels);
		k_means_assign(means, losses, drawn, sample, labels);
		squares = k_means_squares(means, losses, drawn, sample, labels);
		if (!(squares < least * BETTER) && s > 0)
			continue;
		least = squares;
		memcpy(best, means->centres, bytes);
	}
	memcpy(means->centres, best, bytes);
	k_means_assign(means, losses, order, n, labels);
}

/* Orders the n examples of one source as S2L takes them. */
static void
trajectories_order(const struct trajectories *trajectories, const float *losses, const uint32_t *list, size_t n,
                   struct random_state *random, size_t limit, uint32_t *ranked)
{
	size_t epochs = trajectories->dynamics->epoch_count;
	size_t clusters = trajectories->clusters < n ? trajectories->clusters : n;
	CLEANUP_ARRAY double *centres = memory_array(clusters * epochs, sizeof(*centres), "centres");
	CLEANUP_ARRAY float *turned = memory_array(K_MEANS_PADDED(clusters) * (epochs + 1), sizeof(*turned), "centres");
	CLEANUP_ARRAY size_t *sizes = memory_array(clusters, sizeof(*sizes), "sizes of clusters");
	CLEANUP_ARRAY uint32_t *labels = memory_array(n, sizeof(*labels), "clusters of examples");
	struct k_means means = {
	        .clusters = clusters, .dimensions = epochs, .centres = centres, .turned = turned, .sizes = sizes};

	trajectories_cluster(&means, losses, list, n, trajectories->starts, random, labels);
	balanced_order(list, labels, n, clusters, LEAST, random, limit, ranked);
}

/* Sorts the examples by source, in one pass over them that keeps their order within a source. ends[] gets where each
 * source's examples end in the sorted list; it begins as zeros, one more than there are sources. */
static void
trajectories_sort_by_source(const struct trajectories *trajectories, uint32_t *list, size_t *ends)
{
	for (size_t i = 0; i < trajectories->n; i++)
		ends[trajectories->sources[trajectories->list[i]] + 1]++;
	for (size_t source = 1; source < trajectories->source_count; source++)
		ends[source + 1] += ends[source];
	for (size_t i = 0; i < trajectories->n;
	     i++) /* each begins where the one before ends, and moves to its own end */
		list[ends[trajectories->sources[trajectories->list[i]]]++] = trajectories->list[i];
}

/* Orders the examples of each source, and takes from the sources as evenly as they can give. */
static void
trajectories_order_sources(const struct trajectories *trajectories, const float *losses, struct random_state *random,
                           size_t limit, uint32_t *ranked)
{
	size_t n = trajectories->n, used = 0;
	CLEANUP_ARRAY uint32_t *list = memory_array(n, sizeof(*list), "examples by source");
	CLEANUP_ARRAY uint32_t *ordered = memory_array(n, sizeof(*ordered), "examples in order");
	CLEANUP_ARRAY uint32_t *groups = memory_array(n, sizeof(*groups), "sources of examples");
	CLEANUP_ARRAY size_t *ends = memory_array(trajectories->source_count + 1, sizeof(*ends), "sources");

	trajectories_sort_by_source(trajectories, list, ends);
	for (uint32_t source = 0; source < trajectories->source_count; source++) {
		const size_t count = ends[source] - used;

		if (count > 0)
			trajectories_order(trajectories, losses, list + used, count, random, count, ordered + used);
		while (used < ends[source])
			groups[used++] = source;
	}
	balanced_order(ordered, groups, n, trajectories->source_count, 1, NULL, limit, ranked);
}

size_t
trajectories_rank(const struct trajectories *trajectories, size_t limit, uint32_t *ranked)
{
	const struct dynamics *dynamics = trajectories->dynamics;
	size_t n = trajectories->n, epochs = dynamics->epoch_count;
	CLEANUP_ARRAY float *losses = memory_array(dynamics->ids.rows * epochs, sizeof(*losses), "losses");
	struct random_state random;

	trajectories_read(dynamics, losses);
	random_seed(&random, trajectories->seed);
	limit = limit < n ? limit : n;
	if (trajectories->sources)
		trajectories_order_sources(trajectories, losses, &random, limit, ranked);
	else
		trajectories_order(trajectories, losses, trajectories->list, n, &random, limit, ranked);
	return limit;
}
