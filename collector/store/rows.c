/*
 * rows.c: finds the rows of a batch that can be stored.
 *
 * Nearly always these are all rows. So each column is first checked as a whole, in loops without a branch that the
 * compiler turns into vector instructions. Only if a column has a bad value, its rows are checked one by one.
 */
#include "rows.h"

#include "write_ids.h"

#include <stdlib.h>

static float
rows_float_at(const uint8_t *data, uint32_t row)
{
	float value;

	memcpy(&value, data + 4 * (size_t)row, sizeof(value));
	return value;
}

static bool
rows_are_probabilities(const uint8_t *data, uint32_t rows)
{
	uint32_t bad = 0;

	for (uint32_t row = 0; row < rows; row++) {
		float value = rows_float_at(data, row);

		bad |= !(value >= 0.0f) | !(value <= 1.0f);
	}
	return !bad;
}

static bool
rows_are_numbers(const uint8_t *data, uint32_t rows)
{
	uint32_t bad = 0;

	for (uint32_t row = 0; row < rows; row++) {
		float value = rows_float_at(data, row);

		bad |= value != value;
	}
	return !bad;
}

static bool
rows_are_classes(const uint8_t *data, uint32_t rows)
{
	uint32_t all = 0;

	for (uint32_t row = 0; row < rows; row++)
		all |= load_u32(data + 4 * (size_t)row);
	return all >> 31 == 0;
}

/* Checks one column: `rows` values from `data` on. */
static bool
rows_are_good(unsigned column, const uint8_t *data, uint32_t rows)
{
	if (column == STORE_GOLD_PROB)
		return rows_are_probabilities(data, rows);
	if (column == STORE_PREDICTED || column == STORE_GOLD)
		return rows_are_classes(data, rows);
	return !column_is_float(column) || rows_are_numbers(data, rows);
}

/* The reason to refuse a row with a bad value in this column. */
static enum store_refusal
rows_refusal_of(unsigned column)
{
	if (column == STORE_GOLD_PROB)
		return STORE_REFUSED_GOLD_PROB;
	return column == STORE_PREDICTED || column == STORE_GOLD ? STORE_REFUSED_CLASS : STORE_REFUSED_NAN;
}

/* Sets kept[] to the rows without a bad value, and counts the other rows by their first bad value; *all: there are no
 * others. */
static uint32_t
rows_check_values(const struct append_columns *columns, uint32_t rows, uint32_t *kept, bool *all, uint64_t *refused)
{
	uint64_t bad = 0;
	uint32_t good = 0;

	for (uint64_t mask = columns->columns; mask; mask &= mask - 1)
		if (!rows_are_good(mask_first(mask), columns->data[mask_first(mask)], rows))
			bad |= mask & -mask;
	*all = bad == 0;
	for (uint32_t row = 0; row < rows && bad; row++) {
		uint64_t mask = bad;

		while (mask && rows_are_good(mask_first(mask), columns->data[mask_first(mask)] + 4 * (size_t)row, 1))
			mask &= mask - 1;
		if (mask)
			refused[rows_refusal_of(mask_first(mask))]++;
		else
			kept[good++] = row;
	}
	return bad ? good : rows;
}

/* Declared ids are the indices: takes all of a batch at once. False: an id is not below the declared number. */
static bool
rows_copy_declared(const struct store_append *append, uint64_t declared, uint32_t *index)
{
	uint32_t last = declared > UINT32_MAX ? UINT32_MAX : (uint32_t)declared - 1, beyond = 0;
	const uint8_t *ids = append->ids;

	if (append->id_size == 4) {
		for (uint32_t row = 0; row < append->rows; row++) {
			index[row] = load_u32(ids + 4 * (size_t)row);
			beyond |= index[row] > last;
		}
	} else {
		for (uint32_t row = 0; row < append->rows; row++) {
			uint64_t id = load_u64(ids + 8 * (size_t)row);

			index[row] = (uint32_t)id;
			beyond |= id >= declared;
		}
	}
	return !beyond;
}

static int
rows_make_room(struct store_writer *writer, uint32_t rows, struct portolan_error *error)
{
	uint32_t *index, *kept;

	if (rows <= writer->row_room)
		return 0;
	index = realloc(writer->index, rows * sizeof(*index));
	writer->index = index ? index : writer->index;
	kept = realloc(writer->kept, rows * sizeof(*kept));
	writer->kept = kept ? kept : writer->kept;
	if (!index || !kept)
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", writer->directory);
	writer->row_room = rows;
	return 0;
}

int
store_rows_choose(struct store_writer *writer, uint32_t run, struct run_state_record *state,
                  const struct store_append *append, const struct append_columns *columns, uint32_t *count,
                  uint64_t refused[STORE_REFUSALS], struct portolan_error *error)
{
	uint32_t *kept, *index, good, n = 0;
	int rc = rows_make_room(writer, append->rows, error);
	bool all;

	if (rc)
		return rc;
	kept = writer->kept;
	index = writer->index;
	good = rows_check_values(columns, append->rows, kept, &all, refused);
	*count = good;
	if (all && state->declared && rows_copy_declared(append, state->declared, index))
		return 0;
	for (uint32_t row = 0; row < append->rows && all; row++)
		kept[row] = row;
	if (!state->declared) {
		rc = store_ids_assign(writer, run, state, append, kept, good, index, error);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < good; i++) {
		uint64_t id = state->declared ? store_append_integer(append, kept[i]) : 0;

		if (state->declared)
			index[i] = id < state->declared ? (uint32_t)id : IDS_NO_INDEX;
		kept[n] = kept[i];
		index[n] = index[i];
		n += index[n] != IDS_NO_INDEX;
	}
	refused[STORE_REFUSED_ID] += good - n;
	*count = n;
	return 0;
}

void
store_rows_fill(uint8_t *to, const uint8_t *from, unsigned column, const uint32_t *kept, uint32_t count, uint32_t rows)
{
	if (count == rows) {
		memcpy(to, from, column_bytes(column, rows));
		if (column_is_bits(column) && rows % 8) /* the last byte may have bits beyond the rows */
			to[rows / 8] &= (uint8_t)((1u << (rows % 8)) - 1);
		return;
	}
	if (column_is_bits(column))
		memset(to, 0, column_bytes(column, count));
	for (uint32_t i = 0; i < count; i++) {
		if (column_is_bits(column))
			to[i / 8] |= (uint8_t)((from[kept[i] / 8] >> (kept[i] % 8) & 1) << (i % 8));
		else
			memcpy(to + 4 * (size_t)i, from + 4 * (size_t)kept[i], 4);
	}
}
