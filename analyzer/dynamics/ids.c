/*
 * ids.c: ids as one array of integers, or one text with offsets; sorting, and a hash index for joins.
 *
 * Most runs have their ids in ascending order already (declared ids always): that is looked at first. The index uses
 * open addressing at half load; 32-bit slots suffice because a store has fewer than 2^32 examples.
 */
#include "ids.h"

#include "program/number.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

void
ids_free(struct ids *ids)
{
	free(ids->integers);
	free(ids->text);
	free(ids->offsets);
	*ids = (struct ids){0};
}

static bool
grow(void **memory, size_t *room, size_t needed, size_t size)
{
	size_t larger = *room ? *room : needed;
	void *grown;

	if (needed <= *room)
		return true;
	while (larger < needed)
		larger *= 2;
	grown = realloc(*memory, larger * size);
	if (!grown)
		return false;
	*memory = grown;
	*room = larger;
	return true;
}

static bool
append_integers(struct ids *ids, const uint64_t *integers, size_t rows)
{
	if (!grow((void **)&ids->integers, &ids->room, ids->rows + rows, sizeof(*ids->integers)))
		return false;
	memcpy(ids->integers + ids->rows, integers, rows * sizeof(*integers));
	return true;
}

/* Room for so many strings of `bytes` in all; the place of their text, or NULL. */
static char *
append_text(struct ids *ids, size_t rows, size_t bytes)
{
	uint64_t used = ids->rows ? ids->offsets[ids->rows] : 0;

	if (!grow((void **)&ids->offsets, &ids->room, ids->rows + rows + 1, sizeof(*ids->offsets)) ||
	    !grow((void **)&ids->text, &ids->text_room, used + bytes + 1, 1))
		return NULL;
	ids->offsets[ids->rows] = used;
	return ids->text + used;
}

static bool
append_strings(struct ids *ids, const struct store_ids *block)
{
	size_t bytes = block->offsets[block->rows] - block->offsets[0];
	char *text = append_text(ids, block->rows, bytes);
	uint64_t used = text ? ids->offsets[ids->rows] : 0;

	if (!text)
		return false;
	memcpy(text, block->text + block->offsets[0], bytes);
	for (size_t r = 0; r <= block->rows; r++)
		ids->offsets[ids->rows + r] = used + (block->offsets[r] - block->offsets[0]);
	return true;
}

static int
appended(struct ids *ids, enum store_id_kind kind, size_t rows, bool done, struct portolan_error *error)
{
	if (!done)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu ids", ids->rows + rows);
	ids->kind = kind;
	ids->rows += rows;
	return 0;
}

int
ids_append(struct ids *ids, enum store_id_kind kind, const struct store_ids *block, struct portolan_error *error)
{
	bool done =
	        kind == STORE_ID_STR ? append_strings(ids, block) : append_integers(ids, block->integers, block->rows);

	return appended(ids, kind, block->rows, done, error);
}

int
ids_append_one(struct ids *ids, const struct ids *from, uint32_t index, struct portolan_error *error)
{
	size_t length;
	const char *text;
	char *to;

	if (from->kind == STORE_ID_INT)
		return appended(ids, from->kind, 1, append_integers(ids, &from->integers[index], 1), error);
	text = ids_text(from, index, &length);
	to = append_text(ids, 1, length);
	if (to) {
		memcpy(to, text, length);
		ids->offsets[ids->rows + 1] = ids->offsets[ids->rows] + length;
	}
	return appended(ids, from->kind, 1, to != NULL, error);
}

int
ids_append_all(struct ids *ids, const struct ids *more, struct portolan_error *error)
{
	size_t bytes = more->kind == STORE_ID_STR ? more->offsets[more->rows] : 0;
	char *text;

	if (more->kind != STORE_ID_STR)
		return appended(ids, more->kind, more->rows, append_integers(ids, more->integers, more->rows), error);
	text = append_text(ids, more->rows, bytes);
	if (text) {
		memcpy(text, more->text, bytes);
		for (size_t r = 1; r <= more->rows; r++)
			ids->offsets[ids->rows + r] = ids->offsets[ids->rows] + more->offsets[r];
	}
	return appended(ids, more->kind, more->rows, text != NULL, error);
}

int
ids_reserve(struct ids *ids, enum store_id_kind kind, size_t rows, struct portolan_error *error)
{
	bool done = kind == STORE_ID_STR ? grow((void **)&ids->offsets, &ids->room, rows + 1, sizeof(*ids->offsets))
	                                 : grow((void **)&ids->integers, &ids->room, rows, sizeof(*ids->integers));

	return appended(ids, kind, 0, done, error);
}

int
ids_compare(const struct ids *a, uint32_t i, const struct ids *b, uint32_t j)
{
	size_t length_a, length_b;
	const char *text_a, *text_b;
	int difference;

	if (a->kind == STORE_ID_INT)
		return (a->integers[i] > b->integers[j]) - (a->integers[i] < b->integers[j]);
	text_a = ids_text(a, i, &length_a);
	text_b = ids_text(b, j, &length_b);
	difference = memcmp(text_a, text_b, length_a < length_b ? length_a : length_b);
	return difference ? difference : (length_a > length_b) - (length_a < length_b);
}

bool
ids_are_equal(const struct ids *ids, uint32_t a, uint32_t b)
{
	return ids_compare(ids, a, ids, b) == 0;
}

static int
compare_indices(const void *a, const void *b, void *ids)
{
	return ids_compare(ids, *(const uint32_t *)a, ids, *(const uint32_t *)b);
}

static int
sort_integers(const struct ids *ids, uint32_t *order, size_t n, struct portolan_error *error)
{
	struct sort_item *items = malloc(2 * n * sizeof(*items));

	if (!items)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to sort %zu ids", n);
	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){ids->integers[order[i]], order[i]};
	sort_by_key(items, items + n, n);
	for (size_t i = 0; i < n; i++)
		order[i] = items[i].value;
	free(items);
	return 0;
}

int
ids_sort(const struct ids *ids, uint32_t *order, size_t n, struct portolan_error *error)
{
	size_t i = 1;

	while (i < n && ids_compare(ids, order[i - 1], ids, order[i]) < 0)
		i++;
	if (i >= n)
		return 0;
	if (ids->kind == STORE_ID_INT)
		return sort_integers(ids, order, n, error);
	qsort_r(order, n, sizeof(*order), compare_indices, (void *)ids);
	return 0;
}

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

/* FNV-1a, mixed once more because the table uses the low bits. */
static uint64_t
hash_text(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return mix(hash);
}

int
ids_index_init(struct ids_index *index, const struct ids *ids, const uint32_t *chosen, size_t n,
               struct portolan_error *error)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	*index = (struct ids_index){.ids = ids, .chosen = chosen, .mask = size - 1};
	index->slots = calloc(size, sizeof(*index->slots));
	if (!index->slots)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory to index %zu ids", n);
	for (size_t i = 0; i < n; i++) {
		size_t length, slot;
		uint64_t hash;

		if (ids->kind == STORE_ID_INT) {
			hash = mix(ids->integers[chosen[i]]);
		} else {
			const char *text = ids_text(ids, chosen[i], &length);

			hash = hash_text(text, length);
		}
		for (slot = hash & index->mask; index->slots[slot] != 0; slot = (slot + 1) & index->mask)
			;
		index->slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

void
ids_index_free(struct ids_index *index)
{
	free(index->slots);
	index->slots = NULL;
}

static bool
is_id(const struct ids *ids, uint32_t index, uint64_t integer, const char *text, size_t length)
{
	size_t stored_length;
	const char *stored;

	if (ids->kind == STORE_ID_INT)
		return ids->integers[index] == integer;
	stored = ids_text(ids, index, &stored_length);
	return stored_length == length && memcmp(stored, text, length) == 0;
}

int64_t
ids_index_find(const struct ids_index *index, const char *text, size_t length)
{
	uint64_t integer = 0, hash;

	if (index->ids->kind == STORE_ID_INT) {
		if (!number_parse_whole(text, length, &integer))
			return -1;
		hash = mix(integer);
	} else {
		hash = hash_text(text, length);
	}
	for (size_t slot = hash & index->mask; index->slots[slot] != 0; slot = (slot + 1) & index->mask) {
		uint32_t position = index->slots[slot] - 1;

		if (is_id(index->ids, index->chosen[position], integer, text, length))
			return position;
	}
	return -1;
}
