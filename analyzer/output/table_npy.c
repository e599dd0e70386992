/*
 * table_npy.c: the table as one structured NumPy array.
 *
 * Records are put together field by field for as many rows as fit the first-level cache: each inner loop reads one
 * array and writes with one stride, and no row costs a call.
 */
#include "npy.h"
#include "table_format.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_BYTES 16384u /* put together at a time: half of a first-level cache */

struct table_record {
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
add_field(struct table_record *record, const char *name, const char *type, size_t size)
{
	struct npy_field *field = &record->fields[record->field_count++];

	field->name = name;
	snprintf(field->type, sizeof(field->type), "%s%u", type, (unsigned)size);
	record->size += size;
}

static void
describe(struct table_record *record, const struct dynamics *run, size_t longest)
{
	record->id_size = run->info->id_kind != STORE_ID_STR ? 8 : longest > 0 ? longest : 1;
	for (uint64_t c = 0; c < run->info->label_count; c++) {
		const char *label = store_snapshot_label(run->snapshot, c);
		size_t length = label ? strlen(label) : 0;

		record->label_size = length > record->label_size ? length : record->label_size;
	}
	add_field(record, "id", run->info->id_kind == STORE_ID_STR ? "S" : "<u", record->id_size);
	add_field(record, "gold", "<i", 8);
	for (size_t c = 0; c < run->column_count; c++) {
		const struct dynamics_column *column = &run->columns[c];

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
put_ids(const struct table_record *record, const struct dynamics *part, char *at, const uint32_t *rows, size_t n)
{
	const struct ids *ids = &part->ids;

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
put_gold(const struct table_record *record, const struct dynamics *part, char *at, const uint32_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++, at += record->size) {
		int64_t gold = part->gold[rows[i]];

		memcpy(at, &gold, 8);
	}
}

static void
put_labels(const struct table_record *record, const struct dynamics *part, char *at, const uint32_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++, at += record->size) {
		const char *label = dynamics_label(part, rows[i]);

		memset(at, 0, record->label_size);
		if (label)
			memcpy(at, label, strlen(label));
	}
}

static void
put_column(const struct table_record *record, const struct dynamics_column *column, char *at, const uint32_t *rows,
           size_t n)
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
put_records(const struct table_record *record, const struct dynamics *part, char *at, const uint32_t *rows, size_t n)
{
	put_ids(record, part, at, rows, n);
	at += record->id_size;
	put_gold(record, part, at, rows, n);
	at += 8;
	for (size_t c = 0; c < part->column_count; c++) {
		put_column(record, &part->columns[c], at, rows, n);
		at += column_size(&part->columns[c]);
	}
	if (record->label_size > 0)
		put_labels(record, part, at, rows, n);
}

int
table_record_new(struct table_record **record, const struct dynamics *run, size_t longest, struct portolan_error *error)
{
	*record = calloc(1, sizeof(**record));
	if (!*record)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	describe(*record, run, longest);
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
	size_t at_once = record->size < RECORDS_BYTES ? RECORDS_BYTES / record->size : 1;

	for (size_t i = 0; i < count; i += at_once) {
		size_t n = count - i < at_once ? count - i : at_once;
		char *at = output_reserve(output, n * record->size);

		put_records(record, part, at, rows + i, n);
		output_commit(output, at + n * record->size);
	}
}
