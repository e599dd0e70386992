/*
 * table_npy.c: turns the rows of a table into NumPy records, for npy files and for code that keeps or sorts rows
 * (table_npy.h).
 *
 * Records are put together field by field for a tile of rows, which fits the first-level cache with all its fields:
 * each inner loop reads one column and writes with one stride, and most values cost no call.
 */
#include "table_npy.h"

#include "base/number.h"
#include "table_cell.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>

#define TILE 64u /* rows whose records are put together at a time */

/* A value as text: of a number, its digits. */
static const char *
npy_text(const struct table_cell *cell, char digits[NUMBER_ROOM], size_t *length)
{
	*length = cell->kind == TABLE_STRING ? cell->length : 0;
	if (cell->kind == TABLE_WHOLE)
		*length = number_print_u64(cell->whole, digits);
	return cell->kind == TABLE_STRING ? cell->text : digits;
}

static struct text_extent
npy_find_extent(const struct table *table, const struct table_column *column)
{
	struct text_extent extent = {0};

	for (size_t i = 0; i < table->rows; i++) {
		struct table_cell cell = table_cell_read(table, column, table_row(table, i));
		char digits[NUMBER_ROOM];
		size_t length;
		const char *text = npy_text(&cell, digits, &length);

		text_extent_add(&extent, text, length);
	}
	return extent;
}

static bool
npy_has_empty(const struct table *table, const struct table_column *column)
{
	for (size_t i = 0; i < table->rows; i++)
		if (table_cell_read(table, column, table_row(table, i)).kind == TABLE_EMPTY)
			return true;
	return false;
}

static bool
npy_is_text(const struct table_column *column)
{
	if (column->type == TABLE_ID || column->type == TABLE_ID_AT)
		return ((const struct ids *)column->of)->kind != STORE_ID_INT;
	return column->type >= TABLE_TEXT;
}

static const char *
npy_type_of_number(const struct table *table, const struct table_column *column)
{
	if (column->npy)
		return column->npy;
	if (column->type == TABLE_F32)
		return "<f4";
	if ((column->type == TABLE_F64 && !column->whole) || column->type == TABLE_REAL_OF)
		return "<f8";
	return npy_has_empty(table, column) ? "<i8" : "<u8";
}

/* Finds the type of a column's field in npy. Returns the bytes of the field. */
static size_t
npy_name_type(const struct table *table, const struct table_column *column, char type[NPY_TYPE_ROOM])
{
	size_t width = column->width;
	bool is_bytes = column->npy && strcmp(column->npy, "|S") == 0;

	if (!npy_is_text(column)) {
		const char *of_number = npy_type_of_number(table, column);

		snprintf(type, NPY_TYPE_ROOM, "%s", of_number);
		return (size_t)(of_number[2] - '0');
	}
	if (width == 0) {
		struct text_extent extent = npy_find_extent(table, column);

		width = is_bytes ? extent.widest : extent.longest;
	}
	width += width == 0; /* NumPy takes no text of width 0 */
	snprintf(type, NPY_TYPE_ROOM, "%s%zu", is_bytes ? "|S" : "<U", width);
	return is_bytes ? width : 4 * width;
}

int
table_record_init(struct table_record *record, const struct table *table, struct portolan_error *error)
{
	*record = (struct table_record){.count = table->column_count};
	record->fields = calloc(table->column_count, sizeof(*record->fields));
	if (!record->fields)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t c = 0; c < table->column_count; c++) {
		struct npy_field *field = &record->fields[c];

		field->name = table->columns[c].name;
		field->at = record->size;
		field->size = npy_name_type(table, &table->columns[c], field->type);
		record->size += field->size;
	}
	return 0;
}

void
table_record_free(struct table_record *record)
{
	free(record->fields);
	*record = (struct table_record){0};
}

void
table_record_head(const struct table_record *record, struct output *output, uint64_t rows)
{
	npy_write_records_header(output, record->fields, record->count, rows);
}

/* One column's values in a tile (up to TILE rows), and where they go. */
struct npy_tile {
	const struct table *table;
	const struct table_column *column;
	const struct npy_field *field;
	const uint32_t *rows; /* the rows' numbers in memory */
	size_t n;
	char *to;
	size_t size; /* of a record */
};

static void
npy_put_cell(const struct npy_tile *tile, const struct table_cell *cell, char *to)
{
	const struct npy_field *field = tile->field;
	char digits[NUMBER_ROOM];
	size_t length;
	const char *text;
	float real;

	if (field->type[1] == 'U') {
		text = npy_text(cell, digits, &length);
		npy_put_text(to, field->size / 4, text, length);
	} else if (field->type[1] == 'S') {
		text = npy_text(cell, digits, &length);
		memset(mempcpy(to, text, length), 0, field->size - length);
	} else if (field->type[1] == 'f') {
		double value = cell->kind == TABLE_REAL ? cell->real : NAN;

		real = (float)value;
		memcpy(to, field->size == 4 ? (const void *)&real : &value, field->size);
	} else {
		uint64_t whole = cell->kind == TABLE_WHOLE ? cell->whole : UINT64_MAX; /* −1 */

		memcpy(to, &whole, field->size); /* its low bytes */
	}
}

/* The loops below have a tile of their own. What they write, bytes, could change the caller's, for all that the
 * compiler knows; it would be read again in every turn. */

/* Puts values that the file has as they are in memory. */
static void
npy_copy(const struct npy_tile *tile, const char *first, size_t stride)
{
	const struct npy_tile own = *tile;

	for (size_t i = 0; i < own.n && own.field->size == 8; i++)
		memcpy(own.to + i * own.size, first + own.rows[i] * stride, 8);
	for (size_t i = 0; i < own.n && own.field->size == 4; i++)
		memcpy(own.to + i * own.size, first + own.rows[i] * stride, 4);
}

/* Puts doubles that are whole numbers, into fields of 1 (truths), 4 or 8 bytes. */
static void
npy_put_wholes(const struct npy_tile *tile, const char *first, size_t stride)
{
	const struct npy_tile own = *tile;
	double value;

	for (size_t i = 0; i < own.n && own.field->size == 1; i++) {
		memcpy(&value, first + own.rows[i] * stride, 8);
		own.to[i * own.size] = value > 0;
	}
	for (size_t i = 0; i < own.n && own.field->size == 4; i++) {
		uint32_t whole;

		memcpy(&value, first + own.rows[i] * stride, 8);
		whole = (uint32_t)value;
		memcpy(own.to + i * own.size, &whole, 4);
	}
	for (size_t i = 0; i < own.n && own.field->size == 8; i++) {
		int64_t whole;

		memcpy(&value, first + own.rows[i] * stride, 8);
		whole = isnan(value) ? -1 : (int64_t)value;
		memcpy(own.to + i * own.size, &whole, 8);
	}
}

/* Puts values of int32_t, into fields of 4 or 8 bytes. */
static void
npy_put_classes(const struct npy_tile *tile, const char *first, size_t stride)
{
	const struct npy_tile own = *tile;

	for (size_t i = 0; i < own.n; i++) {
		int64_t whole;
		int32_t value;

		memcpy(&value, first + own.rows[i] * stride, 4);
		whole = value < 0 ? -1 : value;
		memcpy(own.to + i * own.size, &whole, own.field->size == 4 ? 4 : 8);
	}
}

static void
npy_put_bits(const struct npy_tile *tile, const uint64_t *words)
{
	const struct npy_tile own = *tile;

	for (size_t i = 0; i < own.n; i++)
		own.to[i * own.size] = (char)(words[own.rows[i] / 64] >> own.rows[i] % 64 & 1);
}

static void
npy_put_cells(const struct npy_tile *tile)
{
	for (size_t i = 0; i < tile->n; i++) {
		struct table_cell cell = table_cell_read(tile->table, tile->column, tile->rows[i]);

		npy_put_cell(tile, &cell, tile->to + i * tile->size);
	}
}

/* Puts the values of a column in which every row has one. */
static void
npy_put_column(const struct npy_tile *tile)
{
	const struct table_column *column = tile->column;
	const struct ids *ids = column->type == TABLE_ID ? column->of : NULL;
	const char *first = table_first(tile->table, column);
	size_t stride = table_stride(tile->table, column), size = tile->field->size;
	bool is_real = column->type == TABLE_F64 || column->type == TABLE_F32;

	if (ids && ids->integers)
		npy_copy(tile, (const char *)ids->integers, 8);
	else if (column->type == TABLE_F64 && column->whole && size <= 8)
		npy_put_wholes(tile, first, stride);
	else if ((is_real && column->infinite) || (column->type == TABLE_U64 && size == 8) ||
	         (column->type == TABLE_U32 && size == 4))
		npy_copy(tile, first, stride);
	else if (column->type == TABLE_I32)
		npy_put_classes(tile, first, stride);
	else if (column->type == TABLE_BITS && size == 1)
		npy_put_bits(tile, column->values);
	else
		npy_put_cells(tile);
}

/* Has every row of the tile a value, as far as the column's bits of presence say? */
static bool
npy_is_present(const struct npy_tile *tile)
{
	const uint64_t *present = tile->column->present;
	uint64_t all = 1;

	for (size_t i = 0; present && i < tile->n; i++)
		all &= present[tile->rows[i] / 64] >> tile->rows[i] % 64;
	return all;
}

/* Puts at most TILE rows, as records. */
static void
npy_put_tile(const struct table_record *record, const struct table *table, size_t first, size_t n, char *to)
{
	uint32_t rows[TILE];

	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)table_row(table, first + i);
	for (size_t c = 0; c < record->count; c++) {
		const struct npy_field *field = &record->fields[c];
		struct npy_tile tile = {table, &table->columns[c], field, rows, n, to + field->at, record->size};

		if (!tile.column->through && npy_is_present(&tile))
			npy_put_column(&tile);
		else
			npy_put_cells(&tile);
	}
}

void
table_record_rows(const struct table_record *record, const struct table *table, struct output *output, size_t first,
                  size_t count)
{
	size_t fitting = OUTPUT_RESERVE_MAX / record->size, most = fitting < TILE ? fitting : TILE;
	char *wide = most == 0 ? malloc(record->size) : NULL;

	if (most == 0 && !wide)
		output_fail(output);
	for (size_t i = 0; wide && i < count; i++) {
		npy_put_tile(record, table, first + i, 1, wide);
		output_bytes(output, wide, record->size);
	}
	free(wide);
	for (size_t i = 0; most > 0 && i < count; i += most) {
		size_t n = count - i < most ? count - i : most;
		char *at = output_reserve(output, n * record->size);

		npy_put_tile(record, table, first + i, n, at);
		output_commit(output, at + n * record->size);
	}
}

void
table_record_columns(const struct table_record *record, const char *records, const struct table_column *people,
                     struct table_column *columns)
{
	static const struct {
		const char *npy;
		enum table_type type;
	} types[] = {{"<f8", TABLE_F64}, {"<f4", TABLE_F32}, {"<u8", TABLE_U64}, {"<u4", TABLE_U32},
	             {"<i8", TABLE_I64}, {"<i4", TABLE_I32}, {"|b1", TABLE_FLAG}};

	for (size_t c = 0; c < record->count; c++) {
		const struct npy_field *field = &record->fields[c];
		bool is_id = people[c].type == TABLE_ID || people[c].type == TABLE_ID_AT;

		columns[c] = (struct table_column){.name = field->name,
		                                   .type = TABLE_CHARS,
		                                   .values = records + field->at,
		                                   .stride = record->size,
		                                   .width = field->size,
		                                   .infinite = people[c].infinite,
		                                   .is_name = is_id || people[c].is_name};
		for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			if (strcmp(field->type, types[t].npy) == 0)
				columns[c].type = types[t].type;
	}
}

int
table_put_npy(const struct table *table, struct output *output, struct portolan_error *error)
{
	struct table_record record;
	int code = table_record_init(&record, table, error);

	if (code < 0)
		return code;
	table_record_head(&record, output, table->rows);
	table_record_rows(&record, table, output, 0, table->rows);
	table_record_free(&record);
	return 0;
}
