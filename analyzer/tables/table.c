/* table.c: the columns of a table, and the row of an example; see table.h. */
#include "table.h"

#include "base/number.h"

#include "output/text.h"
#include "table_npy.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 16 /* rows whose values are fetched before they are printed: rows by ascending id lie anywhere */

void
table_write_id(struct output *output, const struct ids *ids, uint32_t index)
{
	size_t length;
	const char *text;

	if (ids->kind == STORE_ID_INT) {
		text_integer(output, ids->integers[index]);
		return;
	}
	text = ids_text(ids, index, &length);
	output_bytes(output, text, length);
}

struct rows_column
table_id_column(const struct ids *ids, const char *name)
{
	return (struct rows_column){name, ids->kind == STORE_ID_INT ? ROWS_WHOLE : ROWS_TEXT};
}

void
table_add_id(struct rows *rows, const struct ids *ids, uint32_t index)
{
	size_t length;
	const char *text;

	if (ids->kind == STORE_ID_INT) {
		rows_whole(rows, ids->integers[index]);
		return;
	}
	text = ids_text(ids, index, &length);
	rows_bytes(rows, text, length);
}

size_t
table_columns(const struct dynamics *dynamics, struct rows_column *columns)
{
	for (size_t c = 0; c < dynamics->column_count; c++)
		columns[c] = (struct rows_column){dynamics->columns[c].name,
		                                  dynamics->columns[c].integer ? ROWS_WHOLE : ROWS_REAL};
	return dynamics->column_count;
}

void
table_add_columns(struct rows *rows, const struct dynamics *dynamics, uint32_t index)
{
	for (size_t c = 0; c < dynamics->column_count; c++)
		rows_real_or_infinite(rows, dynamics->columns[c].values[index]);
}

/* Inlined always, as names_prefetch(). */
static inline __attribute__((always_inline)) void
fetch_ahead(const struct dynamics *part, const uint32_t *rows, size_t i, size_t count)
{
	uint32_t row;

	if (count - i <= AHEAD)
		return;
	row = rows[i + AHEAD];
	if (part->ids.kind == STORE_ID_INT)
		__builtin_prefetch(&part->ids.integers[row]);
	for (size_t c = 0; c < part->column_count; c++)
		if (part->columns[c].values)
			__builtin_prefetch(&part->columns[c].values[row]);
}

static void
describe(struct table *table, const struct dynamics *run)
{
	static const struct rows_column cartography[] = {
	        {"guid", ROWS_TEXT},         {"index", ROWS_WHOLE},      {"threshold_closeness", ROWS_REAL},
	        {"confidence", ROWS_REAL},   {"variability", ROWS_REAL}, {"correctness", ROWS_WHOLE},
	        {"forgetfulness", ROWS_REAL}};
	static const struct rows_column aum[] = {{"sample_id", ROWS_TEXT}, {"aum", ROWS_REAL}};
	struct rows_column *columns = table->columns;

	if (table->format == TABLE_CARTOGRAPHY) {
		memcpy(columns, cartography, sizeof(cartography));
		table->column_count = ROWS_COUNT(cartography);
	} else if (table->format == TABLE_AUM) {
		memcpy(columns, aum, sizeof(aum));
		table->column_count = ROWS_COUNT(aum);
	} else {
		columns[0] = table_id_column(&run->ids, "id");
		columns[1] = (struct rows_column){"gold", ROWS_WHOLE};
		table->column_count = 2 + table_columns(run, columns + 2);
		if (run->info->label_count > 0)
			columns[table->column_count++] = (struct rows_column){"label", ROWS_TEXT};
	}
}

static void
add_measures(struct rows *rows, const struct dynamics *part, uint32_t index)
{
	table_add_id(rows, &part->ids, index);
	if (part->gold[index] >= 0)
		rows_whole(rows, (uint64_t)part->gold[index]);
	else
		rows_empty(rows);
	table_add_columns(rows, part, index);
	if (part->info->label_count > 0)
		rows_text(rows, dynamics_label(part, index));
}

/*
 * In the form of td_metrics.jsonl, which the tools published with Dataset Cartography write and read. With --include-ci
 * the deviation with its confidence interval takes the place of the variability, as there.
 */
static void
add_cartography(struct rows *lines, const struct dynamics *part, const uint32_t *rows, size_t count, bool with_ci)
{
	const double *epochs = dynamics_measure(part, MEASURE_EPOCHS);
	const double *closeness = dynamics_measure(part, MEASURE_THRESHOLD_CLOSENESS);
	const double *confidence = dynamics_measure(part, MEASURE_CONFIDENCE);
	const double *variability = dynamics_measure(part, with_ci ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY);
	const double *correctness = dynamics_measure(part, MEASURE_CORRECTNESS);
	const double *events = dynamics_measure(part, MEASURE_FORGETTING_EVENTS);

	for (size_t i = 0; i < count; i++) {
		uint32_t row = rows[i];

		fetch_ahead(part, rows, i, count);
		table_add_id(lines, &part->ids, row);
		rows_whole(lines, part->first + row);
		rows_real(lines, closeness[row]);
		rows_real(lines, confidence[row]);
		rows_real(lines, variability[row]);
		rows_whole(lines, (uint64_t)lround(correctness[row] * epochs[row]));
		rows_real_or_infinite(lines, events[row]);
	}
}

static void
add_aum(struct rows *lines, const struct dynamics *part, const uint32_t *rows, size_t count)
{
	const double *aum = dynamics_measure(part, MEASURE_AUM);

	for (size_t i = 0; i < count; i++) {
		if (isnan(aum[rows[i]]))
			continue;
		table_add_id(lines, &part->ids, rows[i]);
		rows_real_or_infinite(lines, aum[rows[i]]);
	}
}

int
table_init(struct table *table, enum table_format format, const struct dynamics *run, const struct text_extent *ids,
           struct portolan_error *error)
{
	*table = (struct table){.format = format};
	describe(table, run);
	return format == TABLE_NPY ? table_record_new(&table->record, run, ids, error) : 0;
}

void
table_free(struct table *table)
{
	free(table->record);
	table->record = NULL;
}

static struct rows
rows_of(const struct table *table, struct output *output)
{
	static const enum rows_format formats[TABLE_FORMATS] = {[TABLE_CSV] = ROWS_CSV,
	                                                        [TABLE_TSV] = ROWS_TSV,
	                                                        [TABLE_JSONL] = ROWS_JSONL,
	                                                        [TABLE_CARTOGRAPHY] = ROWS_JSONL,
	                                                        [TABLE_AUM] = ROWS_CSV};

	struct rows rows = rows_for(output, formats[table->format], table->columns, table->column_count, false);

	rows.for_spreadsheets = table->for_spreadsheets;
	return rows;
}

void
table_write_head(const struct table *table, struct output *output, uint64_t rows)
{
	struct rows head = rows_of(table, output);

	if (table->format == TABLE_NPY)
		table_record_head(table->record, output, rows);
	else
		rows_head(&head);
}

void
table_write_rows(const struct table *table, struct output *output, const struct dynamics *part, const uint32_t *rows,
                 size_t count)
{
	struct rows lines = rows_of(table, output);

	if (table->format == TABLE_NPY)
		table_record_rows(table->record, output, part, rows, count);
	else if (table->format == TABLE_CARTOGRAPHY)
		add_cartography(&lines, part, rows, count, table->with_ci);
	else if (table->format == TABLE_AUM)
		add_aum(&lines, part, rows, count);
	else
		for (size_t i = 0; i < count; i++) {
			fetch_ahead(part, rows, i, count);
			add_measures(&lines, part, rows[i]);
		}
}

void
table_show_rows(const struct table *table, struct output *output, const struct dynamics *dynamics, const uint32_t *rows,
                size_t count, bool with_all)
{
	struct rows_column columns[DYNAMICS_COLUMNS_MAX + 3];
	struct rows lines;

	memcpy(columns, table->columns, sizeof(columns));
	columns[0].kind = ROWS_TEXT; /* an id is a name, of which no digits are parted */
	rows_begin_aligned(&lines, output, columns, table->column_count);
	for (size_t i = 0; i < count; i++) {
		if (!with_all)
			i = rows_skip_middle(&lines, i, count);
		add_measures(&lines, dynamics, rows[i]);
	}
	rows_end_aligned(&lines);
	if (output_flush(output, NULL) >= 0)
		rows_note_excerpt(&lines, count, "examples");
}

int
table_show(const struct dynamics *dynamics, struct portolan_error *error)
{
	const struct text_extent extent = {0};
	struct output output;
	struct table table;
	int code = output_open(&output, NULL, error);

	if (code >= 0)
		code = table_init(&table, TABLE_CSV, dynamics, &extent, error);
	if (code < 0)
		return code;
	table_show_rows(&table, &output, dynamics, dynamics->order, dynamics->count, false);
	table_free(&table);
	return output_finish(&output, error);
}

static int
write_all(struct output *output, enum table_format format, const struct dynamics *dynamics,
          struct portolan_error *error)
{
	struct text_extent extent = {0};
	struct table table;
	int code = format == TABLE_NPY ? rows_check_npy(output, error) : 0;

	for (size_t i = 0; dynamics->ids.kind == STORE_ID_STR && i < dynamics->count; i++) {
		size_t length;
		const char *text = ids_text(&dynamics->ids, dynamics->order[i], &length);

		text_extent_add(&extent, text, length);
	}
	if (code >= 0)
		code = table_init(&table, format, dynamics, &extent, error);
	if (code < 0)
		return code;
	if (format == TABLE_NPY && output_can_patch(output)) /* a file, not another program */
		table_note_wide_ids(&extent);
	table_write_head(&table, output, dynamics->count);
	table_write_rows(&table, output, dynamics, dynamics->order, dynamics->count);
	table_free(&table);
	return 0;
}

int
table_print(const char *path, enum table_format format, const struct dynamics *dynamics, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	code = write_all(&output, format, dynamics, error);
	if (code >= 0)
		return output_finish(&output, error);
	output_discard(&output);
	return code;
}

uint32_t
table_measures(enum table_format format, bool with_ci)
{
	if (format == TABLE_AUM)
		return MEASURE_BIT(MEASURE_AUM);
	if (format != TABLE_CARTOGRAPHY)
		return MEASURE_ALL;
	return MEASURE_BIT(MEASURE_THRESHOLD_CLOSENESS) | MEASURE_BIT(MEASURE_CONFIDENCE) |
	       MEASURE_BIT(with_ci ? MEASURE_VARIABILITY_CI : MEASURE_VARIABILITY) | MEASURE_BIT(MEASURE_CORRECTNESS) |
	       MEASURE_BIT(MEASURE_FORGETTING_EVENTS) | MEASURE_BIT(MEASURE_NEVER_LEARNED);
}
