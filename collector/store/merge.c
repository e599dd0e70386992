/*
 * merge.c: the winner rule.
 *
 * Within a session, arrival is sequence order (the writer takes sequence numbers without gaps), and the log keeps
 * arrival order; so between two observations only the order of their sessions has to be compared, and of the folded
 * ones only the session has to be kept. A fold may therefore happen at any time without changing the outcome
 * (for labels of one session that contradict each other see STORE.md).
 *
 * "As a whole": where the winner's batch lacks a column, the loser's value there goes too.
 */
#include "merge.h"

#include <stdlib.h>

#define BITMAP_BYTES (STORE_CHUNK_WORDS * sizeof(uint64_t))

static void *
take(struct merge_chunk *chunk, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory)
		chunk->bytes += bytes;
	return memory;
}

int
store_merge_column(struct merge_chunk *chunk, unsigned column)
{
	size_t bytes = column_is_bits(column) ? BITMAP_BYTES : STORE_CHUNK * sizeof(uint32_t);

	if (chunk->columns & STORE_COLUMN_BIT(column))
		return 0;
	if (!chunk->values[column])
		chunk->values[column] = take(chunk, bytes);
	else if (column_is_bits(column))
		memset(chunk->values[column], 0, bytes);
	if (!chunk->values[column])
		return STORE_E_MEMORY;
	if (!column_is_implied(column)) {
		if (!chunk->present[column])
			chunk->present[column] = take(chunk, BITMAP_BYTES);
		else
			memset(chunk->present[column], 0, BITMAP_BYTES);
		if (!chunk->present[column])
			return STORE_E_MEMORY;
	}
	chunk->columns |= STORE_COLUMN_BIT(column);
	return 0;
}

int
store_merge_reset(struct merge_chunk *chunk)
{
	chunk->columns = 0;
	chunk->rows = 0;
	chunk->changed = false;
	chunk->stored = false;
	chunk->merged = chunk->seen = chunk->relabelled = 0;
	chunk->met_count = 0;
	if (!chunk->present[STORE_GOLD_PROB])
		chunk->present[STORE_GOLD_PROB] = take(chunk, BITMAP_BYTES);
	else
		memset(chunk->present[STORE_GOLD_PROB], 0, BITMAP_BYTES);
	if (!chunk->present[STORE_GOLD_PROB])
		return STORE_E_MEMORY;
	return store_merge_column(chunk, STORE_SESSION);
}

void
store_merge_free(struct merge_chunk *chunk)
{
	for (int column = 0; column < STORE_COLUMN_MAX; column++) {
		free(chunk->present[column]);
		free(chunk->values[column]);
	}
	free(chunk->met);
	*chunk = (struct merge_chunk){0};
}

/* The batches of a session come one after another, so its place is nearly always the last. */
static int
count_met(struct merge_chunk *chunk, uint32_t session)
{
	uint32_t at = chunk->met_count;

	while (at > 0 && chunk->met[at - 1].session != session)
		at--;
	if (at > 0) {
		chunk->met[at - 1].count++;
		return 0;
	}
	if ((chunk->met_count & (chunk->met_count - 1)) == 0) { /* a power of two: the room is used */
		size_t room = chunk->met_count ? 2 * (size_t)chunk->met_count : 1;
		struct merge_met *more = realloc(chunk->met, room * sizeof(*more));

		if (!more)
			return STORE_E_MEMORY;
		chunk->met = more;
	}
	chunk->met[chunk->met_count++] = (struct merge_met){.session = session, .count = 1};
	return 0;
}

/* Keeps in `rows` those that win, *count of them, and marks their places. */
static int
choose(const struct batch *batch, const uint32_t *order, struct merge_row *rows, size_t *count)
{
	uint32_t mine = order[batch->session];
	size_t winners = 0;

	for (size_t i = 0; i < *count; i++) {
		struct merge_chunk *chunk = rows[i].chunk;
		uint32_t at = rows[i].at, *session = (uint32_t *)chunk->values[STORE_SESSION] + at;

		if (bit_get(chunk->present[STORE_GOLD_PROB], at)) {
			if (count_met(chunk, batch->session) < 0)
				return STORE_E_MEMORY;
			if (order[*session] > mine)
				continue;
		}
		bit_set(chunk->present[STORE_GOLD_PROB], at);
		*session = batch->session;
		if (at >= chunk->rows)
			chunk->rows = at + 1;
		rows[winners++] = rows[i];
	}
	*count = winners;
	return 0;
}

static void
scatter_bits(const struct batch *batch, unsigned column, const struct merge_row *rows, size_t count)
{
	const uint8_t *bits = batch->data[column];

	for (size_t i = 0; i < count; i++) {
		uint64_t *word = (uint64_t *)rows[i].chunk->values[column] + rows[i].at / 64;
		uint64_t bit = bits[rows[i].row / 8] >> (rows[i].row % 8) & 1;

		/* No branch: nothing is as hard to foresee as whether a model is right. */
		*word = (*word & ~(UINT64_C(1) << (rows[i].at % 64))) | bit << (rows[i].at % 64);
	}
}

static void
scatter_words(const struct batch *batch, unsigned column, const struct merge_row *rows, size_t count)
{
	const uint8_t *data = batch->data[column];

	for (size_t i = 0; i < count; i++)
		((uint32_t *)rows[i].chunk->values[column])[rows[i].at] = load_u32(data + 4 * (size_t)rows[i].row);
}

int
store_merge_rows(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row *rows,
                 size_t count)
{
	uint64_t columns = batch->columns & wanted & ~STORE_COLUMN_BIT(STORE_GOLD), foreign = 0;
	const struct merge_chunk *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].chunk == last)
			continue;
		last = rows[i].chunk;
		for (uint64_t lacking = columns & ~last->columns; lacking; lacking &= lacking - 1)
			if (store_merge_column(rows[i].chunk, mask_first(lacking)) < 0)
				return STORE_E_MEMORY;
		foreign |= last->columns & ~columns & ~STORE_COLUMN_BIT(STORE_SESSION);
	}
	if (choose(batch, order, rows, &count) < 0)
		return STORE_E_MEMORY;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			scatter_bits(batch, column, rows, count);
		else
			scatter_words(batch, column, rows, count);
		for (size_t i = 0; i < count && !column_is_implied(column); i++)
			bit_set(rows[i].chunk->present[column], rows[i].at);
	}
	for (size_t i = 0; i < count && foreign; i++) {
		struct merge_chunk *chunk = rows[i].chunk;

		for (uint64_t gone = chunk->columns & foreign; gone; gone &= gone - 1)
			if (!column_is_implied(mask_first(gone)))
				bit_clear(chunk->present[mask_first(gone)], rows[i].at);
	}
	return 0;
}

int
store_merge_examples(const struct batch *batch, const uint32_t *order, const struct merge_row *rows, size_t count)
{
	const uint8_t *gold = batch->data[STORE_GOLD];

	for (size_t i = 0; i < count; i++) {
		struct merge_chunk *chunk = rows[i].chunk;
		uint32_t at = rows[i].at, *session = chunk->values[STORE_SESSION], *known, label;

		if (!bit_get(chunk->present[STORE_GOLD_PROB], at)) {
			bit_set(chunk->present[STORE_GOLD_PROB], at);
			session[at] = batch->session;
			chunk->rows = at >= chunk->rows ? at + 1 : chunk->rows;
			chunk->changed = true;
			chunk->seen++;
		}
		if (!gold)
			continue;
		if (store_merge_column(chunk, STORE_GOLD) < 0)
			return STORE_E_MEMORY;
		known = (uint32_t *)chunk->values[STORE_GOLD] + at;
		label = load_u32(gold + 4 * (size_t)rows[i].row);
		if (bit_get(chunk->present[STORE_GOLD], at)) {
			chunk->relabelled += *known != label;
			if (order[session[at]] > order[batch->session] ||
			    (*known == label && session[at] == batch->session))
				continue;
		}
		*known = label;
		session[at] = batch->session;
		bit_set(chunk->present[STORE_GOLD], at);
		chunk->changed = true;
	}
	return 0;
}
