/* trajectories.c: chooses a subset that covers the different courses of losses (S2L). */
#include "trajectories.h"

#include "balanced.h"
#include "base/arrays.h"
#include "statistics/k_means.h"

#include <portolan/error.h>

#include <float.h>
#include <math.h>
#include <string.h>

#define TIMES 20
#define SAMPLE 256 /* per cluster, the examples that determine the centres */
#define WORD 64u   /* rows of a word of bits */
#define LEAST 3    /* smaller clusters come last */

/* The losses of the block's rows, epoch after epoch for a word of rows. The columns of all epochs lie as far from one
 * another as the cache is wide, so row by row, no value would stay in the cache until the next row. */
static void
read_word(const struct store_block *block, uint32_t from, uint32_t rows, float *losses)
{
	size_t epochs = block->epoch_count;
	float last[WORD];

	for (uint32_t r = 0; r < rows; r++)
		last[r] = NAN;
	for (size_t e = 0; e < epochs; e++) {
		const struct store_values *p = store_block_values(block, e, STORE_GOLD_PROB);
		uint64_t present = p->present ? p->present[from / WORD] : 0;

		for (uint32_t r = 0; r < rows; r++) {
			if (present >> r & 1)
				last[r] = -logf(fmaxf(((const float *)p->values)[from + r], FLT_MIN));
			losses[r * epochs + e] = last[r];
		}
	}
	for (uint32_t r = 0; r < rows; r++)
		for (size_t e = epochs; e-- > 0;) {
			last[r] = isnan(losses[r * epochs + e]) ? last[r] : losses[r * epochs + e];
			losses[r * epochs + e] = last[r];
		}
}

/* By dense index; an example that was never observed has NaN. */
static int
read_losses(const struct dynamics *dynamics, float *losses, struct portolan_error *error)
{
	struct store_cursor *cursor = NULL;
	int code = store_cursor_open(dynamics->snapshot, &cursor, error);

	for (size_t b = 0; code >= 0 && b < store_snapshot_blocks(dynamics->snapshot); b++) {
		struct store_block block;

		code = store_cursor_block(cursor, b, &block, error);
		for (uint32_t r = 0; code >= 0 && r < block.rows; r += WORD)
			read_word(&block, r, block.rows - r < WORD ? block.rows - r : WORD,
			          losses + (size_t)(block.first + r) * dynamics->epoch_count);
	}
	store_cursor_close(cursor);
	return code;
}

struct room {
	struct k_means means;
	float *losses; /* by dense index */
	uint32_t *drawn, *labels;
};

static void
room_free(struct room *room)
{
	array_free(room->means.centres);
	array_free(room->means.turned);
	array_free(room->means.sizes);
	array_free(room->losses);
	array_free(room->drawn);
	array_free(room->labels);
}

static int
room_init(struct room *room, const struct selection_source *source, struct portolan_error *error)
{
	size_t epochs = source->dynamics->epoch_count, clusters = room->means.clusters;

	room->means.dimensions = epochs;
	room->means.centres = array_new(clusters * epochs, sizeof(double), "centres", error);
	room->means.turned = array_new(K_MEANS_PADDED(clusters) * epochs, sizeof(double), "centres", error);
	room->means.sizes = array_new(clusters, sizeof(size_t), "sizes of clusters", error);
	room->losses = array_new(source->dynamics->ids.rows * epochs, sizeof(float), "losses", error);
	room->drawn = array_new(source->count, sizeof(uint32_t), "examples to draw from", error);
	room->labels = array_new(source->count, sizeof(uint32_t), "clusters of examples", error);
	return room->means.centres && room->means.turned && room->means.sizes && room->losses && room->drawn &&
	                       room->labels
	               ? 0
	               : PORTOLAN_E_MEMORY;
}

/* The centres begin as the first of the examples drawn. */
static void
find_clusters(struct room *room, const struct selection_source *source, struct random_state *random)
{
	struct k_means *means = &room->means;
	size_t epochs = means->dimensions, n = source->count;
	size_t sample = n / SAMPLE < means->clusters ? n : means->clusters * SAMPLE;

	memcpy(room->drawn, source->order, n * sizeof(*room->drawn));
	random_sample(random, room->drawn, n, sample);
	for (size_t k = 0; k < means->clusters; k++)
		for (size_t e = 0; e < epochs; e++)
			means->centres[k * epochs + e] = (double)room->losses[room->drawn[k] * epochs + e];
	k_means_fit(means, room->losses, room->drawn, sample, TIMES, room->labels);
	k_means_assign(means, room->losses, source->order, n, room->labels);
}

int
trajectories_rank(const struct selection_source *source, size_t limit, uint32_t *ranked, size_t *ranked_count,
                  struct portolan_error *error)
{
	size_t n = source->count, clusters = source->clusters < n ? source->clusters : n;
	struct room room = {.means.clusters = clusters};
	struct random_state random;
	int code = room_init(&room, source, error);

	if (code >= 0)
		code = read_losses(source->dynamics, room.losses, error);
	if (code >= 0) {
		random_seed(&random, source->seed);
		find_clusters(&room, source, &random);
		limit = limit < n ? limit : n;
		code = balanced_order(source->order, room.labels, n, clusters, LEAST, &random, limit, ranked, error);
		*ranked_count = limit;
	}
	room_free(&room);
	return code;
}
