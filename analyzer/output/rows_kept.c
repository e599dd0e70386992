/*
 * rows_kept.c: see rows_kept.h.
 *
 * A cell is 8 bytes: a number, or the place of its text, which follows its length. Both arrays count against
 * --max-memory, and lie in temporary files beyond it (base/arrays.h).
 */
#include "rows_kept.h"

#include "base/arrays.h"
#include "base/ids.h"
#include "npy.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>
#include <uniwidth.h>

struct kept_column {
	struct text_extent extent; /* of its texts, in characters */
	int width;                 /* of its texts, on a terminal */
	bool has_empty;
};

struct rows_kept {
	size_t column_count, next; /* the column of the next value */
	uint64_t *cells;
	size_t cell_count, cell_room;
	char *texts;
	size_t text_bytes, text_room;
	int code;
	struct portolan_error error;
	struct kept_column columns[];
};

struct rows_kept *
rows_kept_new(const struct rows *rows)
{
	struct rows_kept *kept = calloc(1, sizeof(*kept) + rows->column_count * sizeof(kept->columns[0]));

	if (kept)
		kept->column_count = rows->column_count;
	return kept;
}

void
rows_kept_free(struct rows_kept *kept)
{
	if (!kept)
		return;
	array_free(kept->cells);
	array_free(kept->texts);
	free(kept);
}

int
rows_kept_error(const struct rows_kept *kept, struct portolan_error *error)
{
	if (kept->code < 0 && error)
		*error = kept->error;
	return kept->code;
}

/* Room for `more` behind `used`: `array` itself, or a longer one in its place. NULL: there is none. */
static void *
make_room(struct rows_kept *kept, void *array, size_t used, size_t more, size_t size, size_t *room)
{
	size_t wanted = *room > 0 ? *room : 1024;
	void *grown;

	if (kept->code < 0)
		return NULL;
	if (used + more <= *room)
		return array;
	while (wanted < used + more)
		wanted *= 2;
	grown = array_grow(array, used, wanted, size, "cells of a table", &kept->error);
	if (grown)
		*room = wanted;
	else
		kept->code = PORTOLAN_E_MEMORY;
	return grown;
}

void
rows_kept_add(struct rows_kept *kept, uint64_t cell)
{
	uint64_t *cells = make_room(kept, kept->cells, kept->cell_count, 1, sizeof(*cells), &kept->cell_room);

	if (!cells)
		return;
	kept->cells = cells;
	cells[kept->cell_count++] = cell;
	kept->next = kept->next + 1 < kept->column_count ? kept->next + 1 : 0;
}

void
rows_kept_add_empty(struct rows_kept *kept, uint64_t cell)
{
	kept->columns[kept->next].has_empty = true;
	rows_kept_add(kept, cell);
}

void
rows_kept_add_text(struct rows_kept *kept, const char *text, size_t length)
{
	struct kept_column *column = &kept->columns[kept->next];
	size_t start = kept->text_bytes;
	char *texts = make_room(kept, kept->texts, start, sizeof(length) + length, 1, &kept->text_room);
	int width;

	if (!texts)
		return;
	kept->texts = texts;
	memcpy(texts + start, &length, sizeof(length));
	memcpy(texts + start + sizeof(length), text, length);
	kept->text_bytes += sizeof(length) + length;
	text_extent_add(&column->extent, text, length);
	width = u8_width((const uint8_t *)text, length, "UTF-8");
	column->width = width > column->width ? width : column->width;
	rows_kept_add(kept, start);
}

static const char *
text_of(const struct rows_kept *kept, size_t cell, size_t *length)
{
	const char *at = kept->texts + kept->cells[cell];

	memcpy(length, at, sizeof(*length));
	return at + sizeof(*length);
}

const char *
rows_kept_text(const struct rows_kept *kept, uint64_t row, size_t column, size_t *length)
{
	return text_of(kept, (size_t)row * kept->column_count + column, length);
}

size_t
rows_kept_width(const struct rows_kept *kept, size_t column)
{
	return (size_t)kept->columns[column].width;
}

/* Of npy's texts, in characters; NumPy takes none of width 0. */
static size_t
text_width(const struct rows_kept *kept, size_t column)
{
	return kept->columns[column].extent.longest > 0 ? kept->columns[column].extent.longest : 1;
}

static void
write_npy_head(const struct rows_kept *kept, const struct rows *rows)
{
	struct npy_field *fields = calloc(rows->column_count, sizeof(*fields));

	for (size_t c = 0; fields && c < rows->column_count; c++) {
		const char *number = rows->columns[c].kind == ROWS_REAL ? "<f8"
		                     : kept->columns[c].has_empty       ? "<i8"
		                                                        : "<u8";

		fields[c].name = rows->columns[c].name;
		if (rows->columns[c].kind == ROWS_TEXT)
			snprintf(fields[c].type, sizeof(fields[c].type), "<U%zu", text_width(kept, c));
		else
			snprintf(fields[c].type, sizeof(fields[c].type), "%s", number);
	}
	if (fields)
		npy_write_records_header(rows->output, fields, rows->column_count, rows->count);
	else
		output_fail(rows->output);
	free(fields);
}

void
rows_kept_write_npy(const struct rows_kept *kept, const struct rows *rows)
{
	size_t widest = 0;
	char *text_room;

	for (size_t c = 0; c < rows->column_count; c++)
		widest = text_width(kept, c) > widest ? text_width(kept, c) : widest;
	text_room = malloc(4 * widest);
	if (!text_room) {
		output_fail(rows->output);
		return;
	}
	write_npy_head(kept, rows);
	for (size_t i = 0; i < kept->cell_count; i++) {
		size_t c = i % rows->column_count, length;
		const char *text;

		if (rows->columns[c].kind != ROWS_TEXT) {
			output_bytes(rows->output, &kept->cells[i], sizeof(kept->cells[i]));
			continue;
		}
		text = text_of(kept, i, &length);
		npy_put_text(text_room, text_width(kept, c), text, length);
		output_bytes(rows->output, text_room, 4 * text_width(kept, c));
	}
	free(text_room);
}
