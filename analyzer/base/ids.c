/*
 * ids.c: keeps the users' ids of examples in memory, sorts and compares them, and finds an example by its id (ids.h).
 *
 * Integer ids are one array. Those of a whole run of declared examples follow from the first of each chunk instead.
 * String ids are one text with offsets. Most runs have their ids in ascending order already (declared ids always), so
 * this is checked before anything is sorted. The index that finds ids is a hash table with open addressing at half
 * load; 32-bit slots suffice because a store has fewer than 2^32 examples.
 */
#include "ids.h"

#include "arrays.h"

#include "sort.h"

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void
ids_free(struct ids *ids)
{
	array_free(ids->integers);
	array_free(ids->chunks);
	array_free(ids->text);
	array_free(ids->offsets);
	*ids = (struct ids){0};
}

/* Appends integer ids; or makes room for ids that the caller appends: strings of `bytes` in all, or, if `integers` is
 * NULL, integers. */
static int
append(struct ids *ids, enum store_id_kind kind, const uint64_t *integers, size_t rows, size_t bytes,
       struct portolan_error *error)
{
	size_t used = kind == STORE_ID_STR && ids->rows > 0 ? ids->offsets[ids->rows] : 0;
	int code = ids_reserve(ids, kind, ids->rows + rows, error);

	if (code >= 0 && kind == STORE_ID_STR)
		code = array_reserve((void **)&ids->text, &ids->text_room, used + bytes + 1, 1, "ids", error);
	if (code < 0)
		return code;
	if (kind == STORE_ID_STR)
		ids->offsets[ids->rows] = used;
	else if (integers)
		memcpy(ids->integers + ids->rows, integers, rows * sizeof(*integers));
	ids->rows += rows;
	return 0;
}

int
ids_append(struct ids *ids, enum store_id_kind kind, const struct store_ids *block, struct portolan_error *error)
{
	size_t bytes = kind == STORE_ID_STR ? block->offsets[block->rows] - block->offsets[0] : 0;
	int code = append(ids, kind, block->integers, block->rows, bytes, error);
	uint64_t *offsets;

	if (code < 0 || kind == STORE_ID_INT)
		return code;
	offsets = ids->offsets + ids->rows - block->rows;
	memcpy(ids->text + offsets[0], block->text + block->offsets[0], bytes);
	for (size_t r = 1; r <= block->rows; r++)
		offsets[r] = offsets[0] + (block->offsets[r] - block->offsets[0]);
	return 0;
}

int
ids_append_all(struct ids *ids, const struct ids *more, struct portolan_error *error)
{
	size_t bytes = more->kind == STORE_ID_STR ? more->offsets[more->rows] : 0;
	int code = append(ids, more->kind, more->integers, more->rows, bytes, error);
	uint64_t *offsets;

	for (size_t i = 0; code >= 0 && more->chunks && i < more->rows; i++)
		ids->integers[ids->rows - more->rows + i] = ids_integer(more, i);
	if (code < 0 || more->kind == STORE_ID_INT)
		return code;
	offsets = ids->offsets + ids->rows - more->rows;
	memcpy(ids->text + offsets[0], more->text, bytes);
	for (size_t r = 1; r <= more->rows; r++)
		offsets[r] = offsets[0] + more->offsets[r];
	return 0;
}

int
ids_append_text(struct ids *ids, const char *text, size_t length, struct portolan_error *error)
{
	uint32_t offsets[2] = {0, (uint32_t)length};
	uint64_t integer = 0;
	struct store_ids one = {.rows = 1, .integers = &integer, .text = text, .offsets = offsets};

	if (ids->kind == STORE_ID_INT && !number_parse_whole(text, length, &integer))
		return 1;
	return ids_append(ids, ids->kind, &one, error);
}

bool
ids_can_have(const struct ids *ids, const char *text, size_t length)
{
	uint64_t integer;

	return ids->kind != STORE_ID_INT || number_parse_whole(text, length, &integer);
}

/* Makes an array of the ids of declared examples, with room for `rows` ids. */
static int
ids_write_out(struct ids *ids, size_t rows, struct portolan_error *error)
{
	size_t room = rows > ids->rows ? rows : ids->rows;
	uint64_t *integers = array_new(room, sizeof(*integers), "ids", error);

	if (!integers)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < ids->rows; i++)
		integers[i] = ids_integer(ids, i);
	array_free(ids->chunks);
	ids->chunks = NULL;
	ids->integers = integers;
	ids->room = room;
	return 0;
}

int
ids_reserve_declared(struct ids *ids, size_t rows, struct portolan_error *error)
{
	ids->kind = STORE_ID_INT;
	ids->chunks = array_new(rows / STORE_CHUNK + 1, sizeof(*ids->chunks), "ids", error);
	return ids->chunks ? 0 : PORTOLAN_E_MEMORY;
}

int
ids_reserve(struct ids *ids, enum store_id_kind kind, size_t rows, struct portolan_error *error)
{
	ids->kind = kind;
	if (kind == STORE_ID_STR)
		return array_reserve((void **)&ids->offsets, &ids->room, rows + 1, sizeof(*ids->offsets), "ids", error);
	if (ids->chunks)
		return ids_write_out(ids, rows, error);
	return array_reserve((void **)&ids->integers, &ids->room, rows, sizeof(*ids->integers), "ids", error);
}

const char *
id_print(const struct ids *ids, uint32_t index, char digits[NUMBER_ROOM], size_t *length)
{
	if (ids->kind == STORE_ID_STR)
		return ids_text(ids, index, length);
	*length = number_print_u64(ids_integer(ids, index), digits);
	return digits;
}

int
ids_compare(const struct ids *a, uint32_t i, const struct ids *b, uint32_t j)
{
	size_t length_a, length_b;
	const char *text_a, *text_b;
	int difference;

	if (a->kind == STORE_ID_INT) {
		const uint64_t id_a = ids_integer(a, i), id_b = ids_integer(b, j);

		return (id_a > id_b) - (id_a < id_b);
	}
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

#define PLACES_MOST 4 /* places for each id: they take half as much memory as sorting does */
#define PLACE_IS_FREE UINT32_MAX

/* The highest of the ids. */
static uint64_t
highest_integer(const struct ids *ids, const uint32_t *order, size_t n)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t id = ids_integer(ids, order[i]);

		highest = id > highest ? id : highest;
	}
	return highest;
}

/* Sorts ids of which no two are equal, each by its place in an array: most runs number their examples from 0 on. False:
 * two are equal, and `order` is as it was. */
static bool
place_integers(const struct ids *ids, uint32_t *order, size_t n, uint32_t *places, size_t count)
{
	size_t used = 0;

	memset(places, 0xff, count * sizeof(*places));
	for (size_t i = 0; i < n; i++) {
		uint32_t *place = places + ids_integer(ids, order[i]);

		if (*place != PLACE_IS_FREE)
			return false;
		*place = order[i];
	}
	for (size_t i = 0; i < count; i++)
		if (places[i] != PLACE_IS_FREE)
			order[used++] = places[i];
	return true;
}

static int
sort_by_places(const struct ids *ids, uint32_t *order, size_t n, bool *sorted, struct portolan_error *error)
{
	const uint64_t highest = highest_integer(ids, order, n);
	uint32_t *places;

	*sorted = false;
	if (highest / PLACES_MOST >= n)
		return 0;
	places = array_new((size_t)highest + 1, sizeof(*places), "ids to sort", error);
	if (!places)
		return PORTOLAN_E_MEMORY;
	*sorted = place_integers(ids, order, n, places, (size_t)highest + 1);
	array_free(places);
	return 0;
}

static int
sort_integers(const struct ids *ids, uint32_t *order, size_t n, struct portolan_error *error)
{
	struct sort_item *items;
	bool sorted;
	int code = sort_by_places(ids, order, n, &sorted, error);

	if (code < 0 || sorted)
		return code;
	items = array_new(2 * n, sizeof(*items), "ids to sort", error);
	if (!items)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){ids_integer(ids, order[i]), order[i]};
	sort_by_key(items, items + n, n);
	for (size_t i = 0; i < n; i++)
		order[i] = items[i].value;
	array_free(items);
	return 0;
}

bool
ids_are_in_order(const struct ids *ids, const uint32_t *order, size_t n)
{
	size_t i = 1;

	while (ids->kind == STORE_ID_INT && i < n && ids_integer(ids, order[i - 1]) < ids_integer(ids, order[i]))
		i++;
	while (ids->kind == STORE_ID_STR && i < n && ids_compare(ids, order[i - 1], ids, order[i]) < 0)
		i++;
	return i >= n;
}

int
ids_sort(const struct ids *ids, uint32_t *order, size_t n, struct portolan_error *error)
{
	if (ids_are_in_order(ids, order, n))
		return 0;
	if (ids->kind == STORE_ID_INT)
		return sort_integers(ids, order, n, error);
	qsort_r(order, n, sizeof(*order), compare_indices, (void *)ids);
	return 0;
}

uint32_t *
ids_in_order(const struct ids *ids, struct portolan_error *error)
{
	uint32_t *order = array_new(ids->rows, sizeof(*order), "ids to sort", error);

	for (size_t i = 0; order && i < ids->rows; i++)
		order[i] = (uint32_t)i;
	if (order && ids_sort(ids, order, ids->rows, error) >= 0)
		return order;
	array_free(order);
	return NULL;
}

bool
ids_ascend(const struct ids *before, const struct ids *ids)
{
	bool ascend =
	        before->rows == 0 || ids->rows == 0 || ids_compare(before, (uint32_t)before->rows - 1, ids, 0) < 0;

	for (uint32_t i = 1; ascend && i < ids->rows; i++)
		ascend = ids_compare(ids, i - 1, ids, i) < 0;
	return ascend;
}

size_t
text_character(const char *text, size_t length, uint32_t *character)
{
	const uint8_t *bytes = (const uint8_t *)text;
	int size = bytes[0] < 0x80 ? 0 : u8_mbtoucr(character, bytes, length);

	if (size > 0)
		return (size_t)size;
	*character = bytes[0] < 0x80 ? bytes[0] : 0xdc00u + bytes[0];
	return 1;
}

void
text_extent_add(struct text_extent *extent, const char *text, size_t length)
{
	size_t characters = 0;
	uint32_t character;

	for (size_t at = 0; at < length && length > extent->longest; characters++)
		at += text_character(text + at, length - at, &character);
	extent->texts++;
	extent->bytes += length;
	extent->widest = length > extent->widest ? length : extent->widest;
	extent->longest = characters > extent->longest ? characters : extent->longest;
}

void
ids_add_extent(const struct ids *ids, struct text_extent *extent)
{
	for (uint32_t i = 0; ids->kind == STORE_ID_STR && i < ids->rows; i++) {
		size_t length;
		const char *text = ids_text(ids, i, &length);

		text_extent_add(extent, text, length);
	}
}

/* The bytes that tell an id from others: those of the text, or of the number, which is copied to `integer`. */
static const char *
id_bytes(const struct ids *ids, uint32_t index, uint64_t *integer, size_t *length)
{
	if (ids->kind == STORE_ID_STR)
		return ids_text(ids, index, length);
	*integer = ids_integer(ids, index);
	*length = sizeof(*integer);
	return (const char *)integer;
}

int
ids_index_init(struct ids_index *index, const struct ids *ids, const uint32_t *chosen, size_t n,
               struct portolan_error *error)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	*index = (struct ids_index){.ids = ids, .chosen = chosen, .mask = size - 1};
	index->slots = array_new(size, sizeof(*index->slots), "ids to look up", error);
	if (!index->slots)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < n; i++) {
		size_t length, slot;
		uint64_t integer;
		const char *bytes = id_bytes(ids, chosen[i], &integer, &length);

		for (slot = XXH3_64bits(bytes, length) & index->mask; index->slots[slot] != 0;
		     slot = (slot + 1) & index->mask)
			;
		index->slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

void
ids_index_free(struct ids_index *index)
{
	array_free(index->slots);
	index->slots = NULL;
}

/* Inlined: the length of integer ids is a constant then, and no function is called to compare them. */
static inline __attribute__((always_inline)) int64_t
find(const struct ids_index *index, const void *bytes, size_t length)
{
	for (size_t slot = XXH3_64bits(bytes, length) & index->mask; index->slots[slot] != 0;
	     slot = (slot + 1) & index->mask) {
		uint32_t position = index->slots[slot] - 1;
		size_t own_length;
		uint64_t integer;
		const char *own = id_bytes(index->ids, index->chosen[position], &integer, &own_length);

		if (own_length == length && memcmp(own, bytes, length) == 0)
			return position;
	}
	return -1;
}

int64_t
ids_index_find_stored(const struct ids_index *index, const struct store_ids *block, uint32_t row)
{
	if (index->ids->kind == STORE_ID_INT)
		return find(index, &block->integers[row], sizeof(*block->integers));
	return find(index, block->text + block->offsets[row], block->offsets[row + 1] - block->offsets[row]);
}

int64_t
ids_index_find(const struct ids_index *index, const char *text, size_t length)
{
	uint64_t integer;

	if (index->ids->kind != STORE_ID_INT)
		return find(index, text, length);
	return number_parse_whole(text, length, &integer) ? find(index, &integer, sizeof(integer)) : -1;
}
