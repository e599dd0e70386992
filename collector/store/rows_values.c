/*
 * rows_values.c: finds the rows of a client's batch with a bad value, for rows.c.
 *
 * Nearly always all values are good. So each column is first checked as a whole, in loops without a branch that the
 * compiler turns into vector instructions. Only if a column has a bad value, its rows are checked one by one.
 */
#include "rows.h"

#include <portolan/widths.h>

#include <math.h>

static float
rows_float_at(const uint8_t *data, uint32_t row)
{
	float value;

	memcpy(&value, data + 4 * (size_t)row, sizeof(value));
	return value;
}

FOR_EACH_WIDTH static bool
rows_are_probabilities(const uint8_t *data, uint32_t rows)
{
	uint32_t bad = 0;

	for (uint32_t row = 0; row < rows; row++) {
		float value = rows_float_at(data, row);

		bad |= !(value >= 0.0f) | !(value <= 1.0f);
	}
	return !bad;
}

FOR_EACH_WIDTH static bool
rows_are_numbers(const uint8_t *data, uint32_t rows)
{
	uint32_t bad = 0;

	for (uint32_t row = 0; row < rows; row++) {
		float value = rows_float_at(data, row);

		bad |= value != value;
	}
	return !bad;
}

FOR_EACH_WIDTH static bool
rows_are_finite(const uint8_t *data, uint32_t rows)
{
	bool all = true;

	for (uint32_t row = 0; row < rows; row++)
		all &= isfinite(rows_float_at(data, row)) != 0;
	return all;
}

FOR_EACH_WIDTH static bool
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
	if (column == STORE_TASK_LOSS)
		return rows_are_finite(data, rows);
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

uint32_t
store_rows_check(const struct append_columns *columns, uint32_t rows, uint32_t *kept, bool *all, uint64_t *refused)
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
