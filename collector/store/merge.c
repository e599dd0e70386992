/*
 * merge.c: merges batches of the log into chunks, for folds and snapshots, by the winner rule: of two observations of
 * one example at one epoch the later stays.
 *
 * Within a session the order of arrival is the order of sequence numbers (the writer takes these without gaps), and the
 * log keeps the order of arrival. So for two observations only the order of their sessions has to be compared, and a
 * folded observation need only keep its session. A fold may therefore happen at any time without changing the outcome
 * (for labels of one session that contradict each other see STORE.md).
 *
 * An observation wins as a whole: if its batch lacks a column, the other's value of that column is dropped too.
 */
#include "merge.h"

#include "list.h"

#include <portolan/widths.h>

#include <sys/mman.h>

#define BITMAP_BYTES (STORE_CHUNK_WORDS * sizeof(uint64_t))
#define GROUP 512 /* rows merged at a time */
#define HUGE_PAGE ((size_t)2 << 20)

size_t
store_merge_shared_size(size_t bytes)
{
	return bytes < HUGE_PAGE ? bytes : (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Allocates the array that a column has in all chunks. A large one asks for huge pages, for the sake of scattered rows. */
static void *
merge_allocate_shared(size_t bytes)
{
	const size_t size = store_merge_shared_size(bytes);
	void *array;

	if (bytes < HUGE_PAGE)
		return calloc(1, bytes);
	array = aligned_alloc(HUGE_PAGE, size);
	if (array)
		madvise(array, size, MADV_HUGEPAGE);
	return array;
}

/* Makes sure that the image has an array of `bytes`: one of its own, or its piece of the one that all chunks share. Its
 * content is left as it is. False: out of memory. */
static bool
merge_have_array(const struct merge_chunk *chunk, void **array, void **shared, size_t bytes)
{
	if (*array)
		return true;
	if (!chunk->shared) {
		*array = calloc(1, bytes);
		return *array;
	}
	if (!*shared)
		*shared = merge_allocate_shared(bytes * chunk->shared->chunks);
	*array = *shared ? (uint8_t *)*shared + bytes * chunk->number : NULL;
	return *array;
}

static bool
merge_have_values(struct merge_chunk *chunk, unsigned column, size_t bytes)
{
	return merge_have_array(chunk, &chunk->values[column], chunk->shared ? &chunk->shared->values[column] : NULL,
	                        bytes);
}

/* Makes the column's presence empty. */
static bool
merge_clear_presence(struct merge_chunk *chunk, unsigned column)
{
	void *words = chunk->present[column], *shared = chunk->shared ? chunk->shared->present[column] : NULL;
	const bool have = merge_have_array(chunk, &words, &shared, BITMAP_BYTES);

	if (chunk->shared)
		chunk->shared->present[column] = shared;
	chunk->present[column] = words;
	if (have)
		memset(words, 0, BITMAP_BYTES);
	return have;
}

int
store_merge_column(struct merge_chunk *chunk, unsigned column)
{
	if (chunk->columns & STORE_COLUMN_BIT(column))
		return 0;
	if (!merge_have_values(chunk, column, column_is_bits(column) ? BITMAP_BYTES : STORE_CHUNK * sizeof(uint32_t)))
		return STORE_E_MEMORY;
	/* Numbers in rows that are not present are never used, and need no zeros. */
	if (column_is_bits(column))
		memset(chunk->values[column], 0, BITMAP_BYTES);
	if (!column_is_implied(column) && !merge_clear_presence(chunk, column))
		return STORE_E_MEMORY;
	chunk->columns |= STORE_COLUMN_BIT(column);
	return 0;
}

int
store_merge_clear(struct merge_chunk *chunk)
{
	chunk->columns = 0;
	chunk->rows = 0;
	chunk->session = UINT32_MAX;
	chunk->changed = false;
	chunk->stored = false;
	chunk->merged = 0;
	chunk->met_count = chunk->met_last = 0;
	chunk->counts = (struct merge_counts){0};
	return merge_clear_presence(chunk, STORE_GOLD_PROB) ? 0 : STORE_E_MEMORY;
}

int
store_merge_reset(struct merge_chunk *chunk)
{
	return store_merge_clear(chunk) < 0 ? STORE_E_MEMORY : store_merge_column(chunk, STORE_SESSION);
}

void
store_merge_free(struct merge_chunk *chunk)
{
	for (int column = 0; column < STORE_COLUMN_MAX && !chunk->shared; column++) {
		free(chunk->present[column]);
		free(chunk->values[column]);
	}
	free(chunk->met);
	*chunk = (struct merge_chunk){0};
}

void
store_merge_share(struct merge_chunk *chunk, struct merge_shared *shared, uint32_t number)
{
	memset(chunk->present, 0, sizeof(chunk->present)); /* of a chunk that gave its image up, when memory was out */
	memset(chunk->values, 0, sizeof(chunk->values));
	chunk->shared = shared;
	chunk->number = number;
}

void
store_merge_shared_free(struct merge_shared *shared)
{
	for (int column = 0; column < STORE_COLUMN_MAX && shared; column++) {
		free(shared->present[column]);
		free(shared->values[column]);
	}
	free(shared);
}

uint32_t
store_merge_end(const struct merge_chunk *chunk)
{
	uint32_t words = STORE_CHUNK_WORDS;

	while (words && !chunk->present[STORE_GOLD_PROB][words - 1])
		words--;
	return words ? 64 * words - (uint32_t)__builtin_clzll(chunk->present[STORE_GOLD_PROB][words - 1]) : 0;
}

FOR_EACH_WIDTH uint32_t
store_merge_count(const struct merge_chunk *chunk)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < STORE_CHUNK_WORDS; i++)
		count += (uint32_t)__builtin_popcountll(chunk->present[STORE_GOLD_PROB][i]);
	return count;
}

void
store_merge_add_counts(const struct merge_chunk *chunk, struct merge_counts *counts)
{
	counts->replaced += chunk->counts.replaced;
	counts->returned += chunk->counts.returned;
	counts->seen += chunk->counts.seen;
	counts->relabelled += chunk->counts.relabelled;
}

static bool
merge_has_sessions(const struct merge_chunk *chunk)
{
	return chunk->columns & STORE_COLUMN_BIT(STORE_SESSION);
}

static void
merge_fill(uint32_t *values, uint32_t value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = value;
}

/* Takes the columns of a session's batch into use. */
static int
merge_take_columns(struct merge_chunk *chunk, uint64_t columns, uint32_t session)
{
	for (uint64_t lacking = columns & ~chunk->columns; lacking; lacking &= lacking - 1)
		if (store_merge_column(chunk, mask_first(lacking)) < 0)
			return STORE_E_MEMORY;
	if (merge_has_sessions(chunk) || chunk->session == session)
		return 0;
	if (chunk->rows == 0) {
		chunk->session = session;
		return 0;
	}
	if (store_merge_column(chunk, STORE_SESSION) < 0)
		return STORE_E_MEMORY;
	merge_fill(chunk->values[STORE_SESSION], chunk->session, chunk->rows);
	return 0;
}

/* The place in chunk->met, which is in order, where the session stands or belongs. */
static uint32_t
merge_find_met(const struct merge_chunk *chunk, uint32_t session)
{
	uint32_t low = 0, high = chunk->met_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (chunk->met[middle].session < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The rows of a batch come one after another, so the session is nearly always the last one counted. */
static int
merge_count_met(struct merge_chunk *chunk, uint32_t session)
{
	uint32_t at = chunk->met_last;

	if (at >= chunk->met_count || chunk->met[at].session != session)
		chunk->met_last = at = merge_find_met(chunk, session);
	if (at < chunk->met_count && chunk->met[at].session == session) {
		chunk->met[at].count++;
		return 0;
	}
	if (!list_grow(&chunk->met, chunk->met_count, sizeof(*chunk->met)))
		return STORE_E_MEMORY;
	memmove(chunk->met + at + 1, chunk->met + at, (chunk->met_count++ - at) * sizeof(*chunk->met));
	chunk->met[at] = (struct merge_met){.session = session, .count = 1};
	return 0;
}

/* Takes the places of the first rows, as far as they are free: nearly always all of them. Returns how many these are. */
static size_t
merge_take_free(const struct batch *batch, const struct merge_row *rows, size_t count, bool have_sessions)
{
	size_t taken;

	for (taken = 0; taken < count; taken++) {
		struct merge_chunk *chunk = rows[taken].chunk;
		const uint32_t at = rows[taken].at;
		const uint64_t bit = UINT64_C(1) << (at % 64);
		uint64_t *word = chunk->present[STORE_GOLD_PROB] + at / 64;

		if (*word & bit)
			break;
		*word |= bit;
		if (at >= chunk->rows)
			chunk->rows = at + 1;
	}
	for (size_t i = 0; i < taken && have_sessions; i++)
		if (merge_has_sessions(rows[i].chunk))
			((uint32_t *)rows[i].chunk->values[STORE_SESSION])[rows[i].at] = batch->session;
	return taken;
}

/* Keeps the winners in `rows`, *count of them, and marks their places as present. */
static int
merge_choose_winners(const struct batch *batch, const uint32_t *order, struct merge_row *rows, size_t *count,
                     bool have_sessions)
{
	uint32_t mine = order[batch->session];
	size_t winners = merge_take_free(batch, rows, *count, have_sessions);

	for (size_t i = winners; i < *count; i++) {
		struct merge_chunk *chunk = rows[i].chunk;
		uint32_t at = rows[i].at, *session = merge_has_sessions(chunk) ? chunk->values[STORE_SESSION] : NULL;

		if (bit_get(chunk->present[STORE_GOLD_PROB], at)) {
			if (merge_count_met(chunk, batch->session) < 0)
				return STORE_E_MEMORY;
			chunk->counts.replaced++;
			chunk->counts.returned += (session ? session[at] : chunk->session) == batch->session;
			if (session && order[session[at]] > mine)
				continue;
		}
		bit_set(chunk->present[STORE_GOLD_PROB], at);
		if (session)
			session[at] = batch->session;
		if (at >= chunk->rows)
			chunk->rows = at + 1;
		rows[winners++] = rows[i];
	}
	*count = winners;
	return 0;
}

static void
merge_scatter_bits(const struct batch *batch, unsigned column, const struct merge_row *rows, size_t count)
{
	const uint8_t *bits = batch->data[column];

	for (size_t i = 0; i < count; i++) {
		uint64_t *word = (uint64_t *)rows[i].chunk->values[column] + rows[i].at / 64;
		uint64_t bit = bits[rows[i].row / 8] >> (rows[i].row % 8) & 1;

		/* No branch: a processor cannot predict whether a model is right. */
		*word = (*word & ~(UINT64_C(1) << (rows[i].at % 64))) | bit << (rows[i].at % 64);
	}
}

static void
merge_scatter_words(const struct batch *batch, unsigned column, const struct merge_row *rows, size_t count)
{
	const uint8_t *data = batch->data[column];

	for (size_t i = 0; i < count; i++)
		((uint32_t *)rows[i].chunk->values[column])[rows[i].at] = load_u32(data + 4 * (size_t)rows[i].row);
}

int
store_merge_rows(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row *rows,
                 size_t count)
{
	const uint64_t sessions = STORE_COLUMN_BIT(STORE_SESSION);
	uint64_t columns = batch->columns & wanted & ~STORE_COLUMN_BIT(STORE_GOLD), shared = UINT64_MAX, united = 0;
	uint64_t foreign;
	bool strange = false;

	for (size_t i = 0; i < count; i++) {
		const struct merge_chunk *chunk = rows[i].chunk;

		shared &= chunk->columns;
		united |= chunk->columns;
		strange |= chunk->session != batch->session;
	}
	for (size_t i = 0; i < count && (columns & ~shared || (strange && !(shared & sessions))); i++)
		if (merge_take_columns(rows[i].chunk, columns, batch->session) < 0)
			return STORE_E_MEMORY;
	if (merge_choose_winners(batch, order, rows, &count, strange || united & sessions) < 0)
		return STORE_E_MEMORY;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			merge_scatter_bits(batch, column, rows, count);
		else
			merge_scatter_words(batch, column, rows, count);
		for (size_t i = 0; i < count && !column_is_implied(column); i++)
			bit_set(rows[i].chunk->present[column], rows[i].at);
	}
	foreign = united & ~columns & ~sessions;
	for (size_t i = 0; i < count && foreign; i++) {
		struct merge_chunk *chunk = rows[i].chunk;

		for (uint64_t gone = chunk->columns & foreign; gone; gone &= gone - 1)
			if (!column_is_implied(mask_first(gone)))
				bit_clear(chunk->present[mask_first(gone)], rows[i].at);
	}
	return 0;
}

/* The bits of word `at / 64` that belong to rows at … end − 1. */
static uint64_t
merge_bit_mask(uint32_t at, uint32_t end)
{
	uint64_t mask = UINT64_MAX << (at % 64);

	return end - (at & ~63u) < 64 ? mask & ((UINT64_C(1) << (end % 64)) - 1) : mask;
}

/* Are the places at … at + count − 1 all free? */
static bool
merge_are_free(const uint64_t *words, uint32_t at, uint32_t count)
{
	uint64_t taken = 0;

	for (uint32_t end = at + count; at < end; at = (at | 63) + 1)
		taken |= words[at / 64] & merge_bit_mask(at, end);
	return !taken;
}

static void
merge_set_bits(uint64_t *words, uint32_t at, uint32_t count)
{
	for (uint32_t end = at + count; at < end; at = (at | 63) + 1)
		words[at / 64] |= merge_bit_mask(at, end);
}

/* Copies the bits of `from` from `row` on to places at … at + count − 1. */
static void
merge_copy_bits(uint64_t *to, uint32_t at, const uint8_t *from, uint32_t row, uint32_t count)
{
	for (uint32_t end = at + count, next; at < end; row += next - at, at = next) {
		const uint8_t *byte = from + row / 8;
		uint64_t mask = merge_bit_mask(at, end), bits = *byte++ >> (row % 8);

		next = (at | 63) + 1 < end ? (at | 63) + 1 : end;
		for (uint32_t have = 8 - row % 8; have < next - at; have += 8)
			bits |= (uint64_t)*byte++ << have;
		to[at / 64] = (to[at / 64] & ~mask) | (bits << (at % 64) & mask);
	}
}

static int
merge_groups(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row next, uint32_t count)
{
	int rc = 0;

	while (count && !rc) {
		struct merge_row rows[GROUP];
		uint32_t n = 0;

		for (; n < GROUP && count; n++, count--, next.at++, next.row++)
			rows[n] = next;
		rc = store_merge_rows(batch, wanted, order, rows, n);
	}
	return rc;
}

int
store_merge_stretch(const struct batch *batch, uint64_t wanted, const uint32_t *order, struct merge_row first,
                    uint32_t count)
{
	const uint64_t columns = batch->columns & wanted & ~STORE_COLUMN_BIT(STORE_GOLD);
	struct merge_chunk *chunk = first.chunk;

	if (merge_take_columns(chunk, columns, batch->session) < 0)
		return STORE_E_MEMORY;
	if (!merge_are_free(chunk->present[STORE_GOLD_PROB], first.at, count))
		return merge_groups(batch, wanted, order, first, count);
	merge_set_bits(chunk->present[STORE_GOLD_PROB], first.at, count);
	if (merge_has_sessions(chunk))
		merge_fill((uint32_t *)chunk->values[STORE_SESSION] + first.at, batch->session, count);
	chunk->rows = first.at + count > chunk->rows ? first.at + count : chunk->rows;
	for (uint64_t mask = columns; mask; mask &= mask - 1) {
		unsigned column = mask_first(mask);

		if (column_is_bits(column))
			merge_copy_bits(chunk->values[column], first.at, batch->data[column], first.row, count);
		else
			memcpy((uint32_t *)chunk->values[column] + first.at,
			       batch->data[column] + 4 * (size_t)first.row, 4 * (size_t)count);
		if (!column_is_implied(column))
			merge_set_bits(chunk->present[column], first.at, count);
	}
	return 0;
}
