/*
 * scan_part.c: most pieces are complete: every example was observed at every epoch, so they need no check per row.
 */
#include "scan_part.h"

#include "measures_tdds.h"

#define LANES 16u /* rows at once, which makes vector code of a loop */

static bool
is_complete(const struct store_block *block)
{
	for (size_t e = 0; e < block->epoch_count; e++)
		if (!store_block_values(block, e, STORE_GOLD_PROB)->complete)
			return false;
	return true;
}

uint32_t
scan_part_observed(const struct store_block *block)
{
	uint32_t count = 0;

	if (is_complete(block))
		return block->rows;
	for (uint32_t word = 0; word * 64 < block->rows; word++) {
		uint32_t rest = block->rows - word * 64;
		uint64_t observed = 0;

		for (size_t e = 0; e < block->epoch_count; e++) {
			const struct store_values *values = store_block_values(block, e, STORE_GOLD_PROB);

			observed |= values->present ? values->present[word] : 0;
		}
		if (rest < 64)
			observed &= (UINT64_C(1) << rest) - 1;
		count += (uint32_t)__builtin_popcountll(observed);
	}
	return count;
}

static struct store_values
cut_values(const struct store_values *values, uint32_t from, bool bits)
{
	if (!values->values)
		return (struct store_values){0};
	return (struct store_values){.values = (const char *)values->values + (bits ? from / 8 : from * sizeof(float)),
	                             .present = values->present + from / 64,
	                             .complete = values->complete};
}

struct store_block
scan_part_cut(const struct store_block *block, uint64_t held, uint32_t from, uint32_t rows,
              struct store_values *columns)
{
	struct store_block piece = *block;

	for (size_t e = 0; e < block->epoch_count; e++)
		for (uint64_t rest = held; rest != 0; rest &= rest - 1) {
			unsigned c = (unsigned)__builtin_ctzll(rest);

			columns[e * STORE_COLUMN_MAX + c] =
			        cut_values(&block->columns[e * STORE_COLUMN_MAX + c], from, c == STORE_CORRECT);
		}
	piece.first += from;
	piece.rows = rows;
	piece.columns = columns;
	piece.gold = cut_values(&block->gold, from, false);
	return piece;
}

/* No collector stores a label below 0; code that counts classes relies on it. */
static void
take_gold(const struct store_block *block, int32_t *to)
{
	const struct store_values *gold = &block->gold;
	const int32_t *from = gold->values;
	uint32_t r = 0;

	for (; gold->complete && r + LANES <= block->rows; r += LANES)
		for (unsigned k = 0; k < LANES; k++)
			to[r + k] = from[r + k] >= 0 ? from[r + k] : -1;
	for (; r < block->rows; r++)
		to[r] = from && gold->present[r / 64] >> r % 64 & 1 && from[r] >= 0 ? from[r] : -1;
}

static void
compute(struct dynamics *part, const struct store_block *block, struct measures_first_epoch *first_epoch)
{
	double *out[MEASURE_COUNT] = {0};

	for (size_t c = 0; c < part->column_count; c++) {
		const struct dynamics_column *column = &part->columns[c];

		if (column->measure == MEASURE_TDDS)
			measures_tdds(block, part->classes, part->class_count, part->window, column->values);
		else if (column->measure >= 0)
			out[column->measure] = column->values;
		else
			measures_mean(block, column->stored, column->values);
	}
	measures_block(block, part->epochs, part->window, out);
	if (out[MEASURE_VARIABILITY])
		measures_first_epoch(block, out[MEASURE_CONFIDENCE], out[MEASURE_VARIABILITY], first_epoch);
}

static void
list_observed(struct dynamics *part, const struct store_block *block, struct scan_sums *sums)
{
	const double *epochs = dynamics_measure_column(part, MEASURE_EPOCHS)->values;
	double all = (double)part->epoch_count;

	part->count = 0;
	if (is_complete(block)) {
		for (uint32_t r = 0; r < block->rows; r++)
			part->order[r] = r;
		part->count = block->rows;
	}
	for (uint32_t r = (uint32_t)part->count; r < block->rows; r++) {
		part->order[part->count] = r;
		part->count += epochs[r] > 0;
		sums->gaps += epochs[r] > 0 && epochs[r] < all;
	}
	sums->count += part->count;
}

void
scan_part_compute(struct dynamics *part, const struct store_block *piece, struct scan_sums *sums)
{
	compute(part, piece, &sums->first_epoch);
	if (part->gold)
		take_gold(piece, part->gold);
	list_observed(part, piece, sums);
}
