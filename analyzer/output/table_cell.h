/*
 * table_cell.h: reads one value of a table in memory, whatever the type of its column. For the code that writes tables:
 * table.c, table_npy.c and table_aligned.c.
 *
 * The functions are inlined: a table of ten million rows is read cell by cell.
 */
#ifndef TABLE_CELL_H
#define TABLE_CELL_H

#include <portolan/widths.h>
#include "table_columns.h"

#include <math.h>

/* The row in memory that is row `i` of the table. */
INLINE size_t
table_row(const struct table *table, size_t i)
{
	return table->order ? table->order[i] : i;
}

/* Bytes that a value of the type takes in memory; 0: the type does not tell. */
INLINE size_t
table_type_size(enum table_type type)
{
	static const uint8_t sizes[] = {[TABLE_F64] = 8,
	                                [TABLE_F32] = 4,
	                                [TABLE_U64] = 8,
	                                [TABLE_U32] = 4,
	                                [TABLE_I64] = 8,
	                                [TABLE_I32] = 4,
	                                [TABLE_REAL_OF] = 0,
	                                [TABLE_FLAG] = 1,
	                                [TABLE_BITS] = 0,
	                                [TABLE_TEXT] = sizeof(char *),
	                                [TABLE_CHARS] = 0,
	                                [TABLE_BYTES] = sizeof(struct table_bytes),
	                                [TABLE_CELL] = sizeof(struct table_cell),
	                                [TABLE_WORD] = 4,
	                                [TABLE_LABEL] = 4,
	                                [TABLE_NAME] = 4,
	                                [TABLE_ID] = 0,
	                                [TABLE_ID_AT] = 4};

	return sizes[type];
}

/* Bytes from one value of the column to the next. */
INLINE size_t
table_stride(const struct table *table, const struct table_column *column)
{
	if (column->is_same)
		return 0;
	if (!column->values)
		return table->struct_size;
	return column->stride ? column->stride : table_type_size(column->type);
}

INLINE const char *
table_first(const struct table *table, const struct table_column *column)
{
	return column->values ? column->values : (const char *)table->structs + column->offset;
}

INLINE struct table_cell
table_cell_of_text(const char *text)
{
	return text ? (struct table_cell){.kind = TABLE_STRING, .text = text, .length = strlen(text)}
	            : (struct table_cell){.kind = TABLE_EMPTY};
}

INLINE struct table_cell
table_cell_of_whole(int64_t value)
{
	return (struct table_cell){.kind = value < 0 ? TABLE_EMPTY : TABLE_WHOLE, .whole = (uint64_t)value};
}

INLINE struct table_cell
table_cell_of_real(double value, bool infinite)
{
	bool is_there = infinite ? !isnan(value) : isfinite(value);

	return (struct table_cell){.kind = is_there ? TABLE_REAL : TABLE_EMPTY, .real = value};
}

INLINE struct table_cell
table_cell_of_id(const struct ids *ids, uint32_t index)
{
	struct table_cell cell = {.kind = TABLE_STRING};

	if (ids->kind == STORE_ID_INT)
		return (struct table_cell){.kind = TABLE_WHOLE, .whole = ids_integer(ids, index)};
	cell.text = ids_text(ids, index, &cell.length);
	return cell;
}

/* The value of a column whose numbers stand for something in its `of`: a word, a class, a name, or an id. */
INLINE struct table_cell
table_cell_of_number(const struct table_column *column, uint32_t number)
{
	struct table_cell cell = {.kind = TABLE_STRING};

	if (column->type == TABLE_ID_AT)
		return table_cell_of_id(column->of, number);
	if (column->type == TABLE_WORD)
		return table_cell_of_text((int32_t)number < 0 ? NULL : ((const char *const *)column->of)[number]);
	if (column->type == TABLE_LABEL)
		return table_cell_of_text((int32_t)number < 0 ? NULL : store_snapshot_label(column->of, number));
	if (number == NAMES_NONE)
		return (struct table_cell){.kind = TABLE_EMPTY};
	cell.text = names_text(column->of, number, &cell.length);
	return cell;
}

/* The value of the column in a row of the memory (table_row()). */
INLINE struct table_cell
table_cell_read(const struct table *table, const struct table_column *column, size_t row)
{
	size_t at_row = column->is_same ? 0 : column->through ? column->through[row] : row;
	const char *at = table_first(table, column);
	union {
		double f64;
		float f32;
		uint64_t u64;
		uint32_t u32;
		int64_t i64;
		int32_t i32;
		uint8_t byte;
		const char *text;
		struct table_bytes bytes;
		struct table_cell cell;
	} value;

	if (column->present && !(column->present[row / 64] >> row % 64 & 1))
		return (struct table_cell){.kind = TABLE_EMPTY};
	if (column->type == TABLE_ID)
		return table_cell_of_id(column->of, (uint32_t)row);
	at += at_row * table_stride(table, column);
	switch (column->type) {
	case TABLE_F64:
		memcpy(&value.f64, at, sizeof(value.f64));
		return table_cell_of_real(value.f64, column->infinite);
	case TABLE_F32:
		memcpy(&value.f32, at, sizeof(value.f32));
		return table_cell_of_real((double)value.f32, column->infinite);
	case TABLE_U64:
		memcpy(&value.u64, at, sizeof(value.u64));
		return (struct table_cell){.kind = TABLE_WHOLE, .whole = value.u64};
	case TABLE_U32:
		memcpy(&value.u32, at, sizeof(value.u32));
		return (struct table_cell){.kind = TABLE_WHOLE, .whole = value.u32};
	case TABLE_I64:
		memcpy(&value.i64, at, sizeof(value.i64));
		return table_cell_of_whole(value.i64);
	case TABLE_I32:
		memcpy(&value.i32, at, sizeof(value.i32));
		return table_cell_of_whole(value.i32);
	case TABLE_REAL_OF:
		return table_cell_of_real(column->real(at), false);
	case TABLE_FLAG:
		return (struct table_cell){.kind = TABLE_WHOLE, .whole = *(const uint8_t *)at};
	case TABLE_BITS:
		return (struct table_cell){.kind = TABLE_WHOLE,
		                           .whole = ((const uint64_t *)column->values)[at_row / 64] >> at_row % 64 & 1};
	case TABLE_TEXT:
		memcpy(&value.text, at, sizeof(value.text));
		return table_cell_of_text(value.text);
	case TABLE_CHARS:
		return (struct table_cell){.kind = TABLE_STRING,
		                           .text = at,
		                           .length = column->width ? strnlen(at, column->width) : strlen(at)};
	case TABLE_BYTES:
		memcpy(&value.bytes, at, sizeof(value.bytes));
		return (struct table_cell){.kind = value.bytes.at ? TABLE_STRING : TABLE_EMPTY,
		                           .text = value.bytes.at,
		                           .length = value.bytes.length};
	case TABLE_CELL:
		memcpy(&value.cell, at, sizeof(value.cell));
		return value.cell;
	default:
		memcpy(&value.u32, at, sizeof(value.u32));
		return table_cell_of_number(column, value.u32);
	}
}

/* Do people read the column as text? If not, they read numbers, which end below one another. */
INLINE bool
table_is_text(const struct table_column *column)
{
	return (column->type >= TABLE_TEXT && !column->is_number) || column->is_name;
}

#endif
