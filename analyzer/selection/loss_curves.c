/* loss_curves.c: reads the losses of examples for the S2L rule (loss_curves.h): word by word of the blocks' bits, as far
 * as a word has examples that are asked for. */
#include "loss_curves.h"

#include "die/die.h"
#include "die/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define WORD 64u /* rows of a word of bits */

uint32_t *
loss_curves_no_places(const struct dynamics *dynamics)
{
	uint32_t *places = memory_array(dynamics->ids.rows, sizeof(*places), "places of examples");

	memset(places, 0xff, dynamics->ids.rows * sizeof(*places));
	return places;
}

void
loss_curves_open(struct loss_curves *curves, const struct dynamics *dynamics, const uint32_t *place_of)
{
	memset(curves, 0, sizeof(*curves));
	curves->dynamics = dynamics;
	curves->place_of = place_of;
	curves->losses = memory_array(LOSS_CURVES_BATCH * dynamics->epoch_count, sizeof(*curves->losses), "losses");
	must(store_cursor_open(dynamics->snapshot, &curves->cursor, &failure));
}

void
loss_curves_close(struct loss_curves *curves)
{
	store_cursor_close(curves->cursor);
	array_free(curves->losses);
}

/* Reads the losses of rows[] of the block, which are of the same word of bits. The columns of all epochs lie as far from
 * one another as the cache is wide, so row by row, no value would stay in the cache until the next row. */
static void
read_rows(const struct store_block *block, const uint32_t *rows, unsigned count, bool of_losses, float *losses)
{
	size_t epochs = block->epoch_count;
	float last[WORD];

	for (unsigned i = 0; i < count; i++)
		last[i] = NAN;
	for (size_t e = 0; e < epochs; e++) {
		const struct store_values *p = store_block_values(block, e, STORE_GOLD_PROB);
		uint64_t present = p->present ? p->present[rows[0] / WORD] : 0;

		for (unsigned i = 0; i < count; i++) {
			float value = present ? ((const float *)p->values)[rows[i]] : 0;

			if (present >> rows[i] % WORD & 1)
				last[i] = of_losses ? value : -logf(value > FLT_MIN ? value : FLT_MIN);
			losses[i * epochs + e] = last[i];
		}
	}
	for (unsigned i = 0; i < count; i++) { /* those before the first observation */
		size_t first = 0;

		while (first < epochs && isnan(losses[i * epochs + first]))
			first++;
		for (size_t e = 0; e < first && first < epochs; e++)
			losses[i * epochs + e] = losses[i * epochs + first];
	}
}

/* Appends the next word of the block to the batch of `count`; returns how many examples it then has. */
static size_t
read_word(struct loss_curves *curves, size_t count)
{
	const struct store_block *block = &curves->block;
	const uint32_t from = (uint32_t)curves->next_word * WORD;
	const uint32_t end = block->rows - from < WORD ? block->rows : from + WORD;
	uint32_t rows[WORD];
	unsigned wanted = 0;

	for (uint32_t row = from; row < end; row++) {
		uint32_t place = curves->place_of[block->first + row];

		if (place == LOSS_CURVES_NONE)
			continue;
		curves->places[count + wanted] = place;
		rows[wanted++] = row;
	}
	if (wanted > 0)
		read_rows(block, rows, wanted, curves->dynamics->info->of_losses,
		          curves->losses + count * block->epoch_count);
	curves->next_word++;
	return count + wanted;
}

size_t
loss_curves_next(struct loss_curves *curves)
{
	const size_t blocks = store_snapshot_blocks(curves->dynamics->snapshot);
	size_t count = 0;

	while (count + WORD <= LOSS_CURVES_BATCH) {
		if (curves->next_word * WORD >= curves->block.rows) {
			if (curves->next_block == blocks)
				break;
			must(store_cursor_epochs(curves->cursor, curves->next_block++, 0, curves->dynamics->epoch_count,
			                         STORE_COLUMN_BIT(STORE_GOLD_PROB), &curves->block, &failure));
			curves->next_word = 0;
		}
		count = read_word(curves, count);
	}
	return count;
}
