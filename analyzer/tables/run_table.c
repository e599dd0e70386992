/* run_table.c: describes a run's examples and measures as a table, so that commands can write them (run_table.h): which
 * columns there are, and where in memory the values lie. */
#include "run_table.h"

#include "base/message.h"
#include "base/number.h"

static size_t
run_table_label_width(const struct dynamics *run)
{
	struct text_extent extent = {.longest = 1}; /* NumPy takes no text of width 0 */

	for (uint64_t class = 0; class < run->info->label_count; class ++) {
		const char *label = store_snapshot_label(run->snapshot, class);

		text_extent_add(&extent, label ? label : "", label ? strlen(label) : 0);
	}
	return extent.longest;
}

void
run_table_begin(struct run_table *run_table)
{
	run_table->table = (struct table){.columns = run_table->columns};
}

struct table_column *
run_table_add(struct run_table *run_table, const char *name, enum table_type type, size_t source)
{
	size_t c = run_table->table.column_count++;

	run_table->columns[c] = (struct table_column){name, type};
	run_table->sources[c] = (uint16_t)source;
	return &run_table->columns[c];
}

static void
run_table_add_values(struct run_table *run_table, const struct dynamics *run, size_t source)
{
	const struct dynamics_column *values = &run->columns[source];
	struct table_column *column = run_table_add(run_table, values->name, TABLE_F64, source);

	column->infinite = true;
	column->whole = values->integer;
	column->npy = !values->integer ? "<f8" : values->sometimes ? "<i8" : "<u4";
	if (values->integer && values->measure == MEASURE_NEVER_LEARNED) /* a difference of two runs is no integer */
		column->npy = "|b1";
}

void
run_table_init(struct run_table *run_table, const struct dynamics *run)
{
	struct table_column *label;

	run_table_begin(run_table);
	run_table_add(run_table, "id", TABLE_ID, 0);
	run_table_add(run_table, "gold", TABLE_I32, 0)->npy = "<i8";
	for (size_t c = 0; c < run->column_count; c++)
		run_table_add_values(run_table, run, c);
	if (run->info->label_count > 0) {
		label = run_table_add(run_table, "label", TABLE_LABEL, 0);
		label->of = run->snapshot;
		label->width = run_table_label_width(run);
	}
	run_table_part(run_table, run_table, run);
}

void
run_table_part(struct run_table *part_table, const struct run_table *run_table, const struct dynamics *part)
{
	if (part_table != run_table)
		*part_table = *run_table;
	for (size_t c = 0; c < part_table->table.column_count; c++) {
		struct table_column *column = &part_table->columns[c];

		if (column->type == TABLE_ID)
			column->of = &part->ids;
		else
			column->values = column->type == TABLE_F64
			                         ? (const void *)part->columns[part_table->sources[c]].values
			                         : part->gold;
	}
	part_table->table.columns = part_table->columns;
	part_table->table.rows = part->count;
	part_table->table.order = part->order;
}

void
run_table_note_wide_ids(const struct text_extent *ids)
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

/* Finds out how wide the ids are in an npy file, and says so if they waste much. */
static void
run_table_measure_ids(struct run_table *run_table, const struct dynamics *run)
{
	struct text_extent extent = {0};

	for (size_t i = 0; i < run->count; i++) {
		char digits[NUMBER_ROOM];
		size_t length;
		const char *text = id_print(&run->ids, run->order[i], digits, &length);

		text_extent_add(&extent, text, length);
	}
	run_table->columns[0].width = extent.longest;
	if (run->ids.kind == STORE_ID_STR)
		run_table_note_wide_ids(&extent);
}

int
run_table_write(const struct dynamics *run, const char *path, enum table_format format, struct portolan_error *error)
{
	struct run_table run_table;
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	run_table_init(&run_table, run);
	run_table.table.excerpt = "examples";
	/* the output is a file, and no program at the end of a pipe */
	if (format == TABLE_NPY && output_can_patch(&output))
		run_table_measure_ids(&run_table, run);
	code = table_write_to(&run_table.table, &output, format, error);
	return output_end(&output, code, error);
}
