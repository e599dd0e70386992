/*
 * table_npy.c: the table as one structured NumPy array.
 *
 * Records are put together field by field for a tile of rows, which fits the first-level cache with all its fields:
 * each inner loop reads one array and writes with one stride, and no row costs a call. If the rows follow one another,
 * as in most tables, the arrays are read directly; else a tile of each is gathered first.
 */
#include "base/message.h"
#include "base/number.h"
#include "output/npy.h"
#include "table_npy.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE 64u /* rows put together at a time */

struct table_record {
	struct npy_field fields[DYNAMICS_COLUMNS_MAX + 3];
	size_t field_count, size;
	size_t id_characters, label_characters; /* of text; 0: there is none */
};

static size_t
column_size(const struct dynamics_column *column)
{
	return column->integer && !column->sometimes ? 4 : 8;
}

/* `count`: bytes, or characters of text, which take 4 each. */
static void
add_field(struct table_record *record, const char *name, const char *type, size_t count)
{
	struct npy_field *field = &record->fields[record->field_count++];

	field->name = name;
	snprintf(field->type, sizeof(field->type), "%s%u", type, (unsigned)count);
	record->size += type[1] == 'U' ? 4 * count : count;
}

static void
describe(struct table_record *record, const struct dynamics *run, const struct text_extent *ids)
{
	struct text_extent labels = {0};

	for (uint64_t c = 0; c < run->info->label_count; c++) {
		const char *label = store_snapshot_label(run->snapshot, c);

		text_extent_add(&labels, label ? label : "", label ? strlen(label) : 0);
	}
	record->label_characters = labels.longest;
	if (run->info->id_kind == STORE_ID_STR) {
		record->id_characters = ids->longest > 0 ? ids->longest : 1;
		add_field(record, "id", "<U", record->id_characters);
	} else {
		add_field(record, "id", "<u", 8);
	}
	add_field(record, "gold", "<i", 8);
	for (size_t c = 0; c < run->column_count; c++) {
		const struct dynamics_column *column = &run->columns[c];

		add_field(record, column->name,
		          !column->integer    ? "<f"
		          : column->sometimes ? "<i"
		                              : "<u",
		          column_size(column));
	}
	if (record->label_characters > 0)
		add_field(record, "label", "<U", record->label_characters);
}

/* Some rows of a part, at most TILE. */
struct tile {
	const struct dynamics *part;
	const uint32_t *rows;
	size_t n;
	bool consecutive; /* the rows follow one another */
	size_t stride;    /* from record to record */
};

static bool
are_consecutive(const uint32_t *rows, size_t n)
{
	uint32_t differences = 0;

	for (size_t i = 0; i < n; i++)
		differences |= rows[i] ^ (rows[0] + (uint32_t)i);
	return differences == 0;
}

static void
put_ids(const struct tile *tile, char *at, size_t characters)
{
	const struct ids *ids = &tile->part->ids;

	for (size_t i = 0; i < tile->n; i++, at += tile->stride) {
		size_t length;
		const char *text;

		if (characters == 0) {
			memcpy(at, &ids->integers[tile->rows[i]], 8);
			continue;
		}
		text = ids_text(ids, tile->rows[i], &length);
		npy_put_text(at, characters, text, length);
	}
}

static void
put_gold(const struct tile *tile, char *at)
{
	const int32_t *all = tile->part->gold;
	size_t stride = tile->stride;

	for (size_t i = 0; i < tile->n; i++) {
		int64_t gold = all[tile->rows[i]];

		memcpy(at + i * stride, &gold, 8);
	}
}

static void
put_labels(const struct tile *tile, char *at, size_t characters)
{
	for (size_t i = 0; i < tile->n; i++, at += tile->stride) {
		const char *label = dynamics_label(tile->part, tile->rows[i]);

		npy_put_text(at, characters, label, label ? strlen(label) : 0);
	}
}

/* The tile's values of a column; `room` is for them where they are not together already. */
static const double *
tile_values(const struct tile *tile, const double *values, double room[TILE])
{
	if (tile->consecutive)
		return values + tile->rows[0];
	for (size_t i = 0; i < tile->n; i++)
		room[i] = values[tile->rows[i]];
	return room;
}

static void
put_column(const struct tile *tile, const struct dynamics_column *column, char *at)
{
	double room[TILE];
	const double *values = tile_values(tile, column->values, room);
	size_t n = tile->n, stride = tile->stride;

	if (!column->integer) {
		for (size_t i = 0; i < n; i++)
			memcpy(at + i * stride, &values[i], 8);
	} else if (column->sometimes) {
		for (size_t i = 0; i < n; i++) {
			int64_t value = isnan(values[i]) ? -1 : (int64_t)values[i];

			memcpy(at + i * stride, &value, 8);
		}
	} else {
		for (size_t i = 0; i < n; i++) {
			uint32_t value = (uint32_t)values[i];

			memcpy(at + i * stride, &value, 4);
		}
	}
}

static void
put_records(const struct table_record *record, const struct tile *tile, char *at)
{
	const struct dynamics *part = tile->part;

	put_ids(tile, at, record->id_characters);
	at += record->id_characters > 0 ? 4 * record->id_characters : 8;
	put_gold(tile, at);
	at += 8;
	for (size_t c = 0; c < part->column_count; c++) {
		put_column(tile, &part->columns[c], at);
		at += column_size(&part->columns[c]);
	}
	if (record->label_characters > 0)
		put_labels(tile, at, record->label_characters);
}

void
table_note_wide_ids(const struct text_extent *ids)
{
	uint64_t wide = 4 * ids->texts * ids->longest;
	char takes[NUMBER_ROOM], own[NUMBER_ROOM];

	if (wide <= 4 * ids->bytes)
		return;
	number_print_grouped(wide, takes);
	number_print_grouped(ids->bytes, own);
	message_note(
	        "the ids take %s bytes in npy, each %zu characters wide as the longest, instead of their own %s; csv "
	        "has them as they are",
	        takes, ids->longest, own);
}

int
table_record_new(struct table_record **record, const struct dynamics *run, const struct text_extent *ids,
                 struct portolan_error *error)
{
	*record = calloc(1, sizeof(**record));
	if (!*record)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	describe(*record, run, ids);
	return 0;
}

size_t
table_record_bytes(const struct table_record *record)
{
	return record->size;
}

void
table_record_head(const struct table_record *record, struct output *output, uint64_t rows)
{
	npy_write_records_header(output, record->fields, record->field_count, rows);
}

void
table_record_rows(const struct table_record *record, struct output *output, const struct dynamics *part,
                  const uint32_t *rows, size_t count)
{
	size_t fitting = OUTPUT_RESERVE_MAX / record->size, most = fitting < TILE ? fitting : TILE;

	for (size_t i = 0; i < count; i += most) {
		size_t n = count - i < most ? count - i : most;
		struct tile tile = {part, rows + i, n, are_consecutive(rows + i, n), record->size};
		char *at = output_reserve(output, n * record->size);

		put_records(record, &tile, at);
		output_commit(output, at + n * record->size);
	}
}
