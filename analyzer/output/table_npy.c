/*
 * table_npy.c: the table as one structured NumPy array.
 *
 * Records are put together field by field for as many rows as fit the first-level cache: each inner loop reads one
 * array and writes with one stride, and no row costs a call.
 */
#include "npy.h"
#include "table.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_BYTES 16384u /* put together at a time: half of a first-level cache */

struct record {
	const struct dynamics *dynamics;
	struct npy_field fields[DYNAMICS_COLUMNS_MAX + 3];
	size_t field_count, size;
	size_t id_size, label_size; /* label_size 0: no labels */
};

static size_t
column_size(const struct dynamics_column *column)
{
	return column->integer && !column->sometimes ? 4 : 8;
}

static void
add_field(struct record *record, const char *name, const char *type, size_t size)
{
	struct npy_field *field = &record->fields[record->field_count++];

	field->name = name;
	snprintf(field->type, sizeof(field->type), "%s%u", type, (unsigned)size);
	record->size += size;
}

static void
describe(struct record *record, const struct dynamics *dynamics, const uint32_t *rows, size_t count)
{
	record->dynamics = dynamics;
	record->id_size = 8;
	if (dynamics->ids.kind == STORE_ID_STR) {
		record->id_size = 1;
		for (size_t i = 0; i < count; i++) {
			size_t length;

			ids_text(&dynamics->ids, rows[i], &length);
			record->id_size = length > record->id_size ? length : record->id_size;
		}
	}
	for (uint64_t c = 0; c < dynamics->info->label_count; c++) {
		const char *label = store_snapshot_label(dynamics->snapshot, c);
		size_t length = label ? strlen(label) : 0;

		record->label_size = length > record->label_size ? length : record->label_size;
	}
	add_field(record, "id", dynamics->ids.kind == STORE_ID_STR ? "S" : "<u", record->id_size);
	add_field(record, "gold", "<i", 8);
	for (size_t c = 0; c < dynamics->column_count; c++) {
		const struct dynamics_column *column = &dynamics->columns[c];

		add_field(record, column->name,
		          !column->integer    ? "<f"
		          : column->sometimes ? "<i"
		                              : "<u",
		          column_size(column));
	}
	if (record->label_size > 0)
		add_field(record, "label", "S", record->label_size);
}

static void
put_ids(const struct record *record, char *at, const uint32_t *rows, size_t n)
{
	const struct ids *ids = &record->dynamics->ids;

	for (size_t i = 0; i < n; i++, at += record->size) {
		if (ids->kind == STORE_ID_INT) {
			memcpy(at, &ids->integers[rows[i]], 8);
		} else {
			size_t length;
			const char *text = ids_text(ids, rows[i], &length);

			memset(at, 0, record->id_size);
			memcpy(at, text, length);
		}
	}
}

static void
put_gold(const struct record *record, char *at, const uint32_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++, at += record->size) {
		int64_t gold = record->dynamics->gold[rows[i]];

		memcpy(at, &gold, 8);
	}
}

static void
put_labels(const struct record *record, char *at, const uint32_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++, at += record->size) {
		const char *label = dynamics_label(record->dynamics, rows[i]);

		memset(at, 0, record->label_size);
		if (label)
			memcpy(at, label, strlen(label));
	}
}

static void
put_column(const struct record *record, const struct dynamics_column *column, char *at, const uint32_t *rows, size_t n)
{
	const double *values = column->values;

	if (!column->integer) {
		for (size_t i = 0; i < n; i++)
			memcpy(at + i * record->size, &values[rows[i]], 8);
	} else if (column->sometimes) {
		for (size_t i = 0; i < n; i++) {
			int64_t value = isnan(values[rows[i]]) ? -1 : (int64_t)values[rows[i]];

			memcpy(at + i * record->size, &value, 8);
		}
	} else {
		for (size_t i = 0; i < n; i++) {
			uint32_t value = (uint32_t)values[rows[i]];

			memcpy(at + i * record->size, &value, 4);
		}
	}
}

static void
put_records(const struct record *record, char *at, const uint32_t *rows, size_t n)
{
	put_ids(record, at, rows, n);
	at += record->id_size;
	put_gold(record, at, rows, n);
	at += 8;
	for (size_t c = 0; c < record->dynamics->column_count; c++) {
		put_column(record, &record->dynamics->columns[c], at, rows, n);
		at += column_size(&record->dynamics->columns[c]);
	}
	if (record->label_size > 0)
		put_labels(record, at, rows, n);
}

int
table_write_npy(struct output *output, const struct dynamics *dynamics, const uint32_t *rows, size_t count,
                struct portolan_error *error)
{
	struct record *record = calloc(1, sizeof(*record));
	size_t at_once;

	if (!record)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	describe(record, dynamics, rows, count);
	npy_write_records_header(output, record->fields, record->field_count, count);
	at_once = record->size < RECORDS_BYTES ? RECORDS_BYTES / record->size : 1;
	for (size_t i = 0; i < count; i += at_once) {
		size_t n = count - i < at_once ? count - i : at_once;
		char *at = output_reserve(output, n * record->size);

		put_records(record, at, rows + i, n);
		output_commit(output, at + n * record->size);
	}
	free(record);
	return 0;
}
