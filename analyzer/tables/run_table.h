/*
 * run_table.h: makes a table (output/table.h) of a run's examples and their measures, for the commands that print
 * these: `metrics`, `select`, `compare`, and the live page's exports.
 *
 * Columns: id, gold, the dynamics' columns, and label where the run names its classes. npy has the id as "<u8" or "<U",
 * gold as "<i8", counts that are never empty as "<u4", other whole numbers as "<i8", floats as "<f8", label as "<U".
 */
#ifndef RUN_TABLE_H
#define RUN_TABLE_H

#include "measures/dynamics.h"
#include "output/table.h"

#define RUN_TABLE_COLUMNS (DYNAMICS_COLUMNS_MAX + 3)
#define RUN_TABLE_FIRST 2 /* columns before the dynamics' own: id and gold */

/* `table` points to `columns`: it is not copied. */
struct run_table {
	struct table table;
	struct table_column columns[RUN_TABLE_COLUMNS];
	uint16_t sources[RUN_TABLE_COLUMNS]; /* of the columns of doubles: the dynamics' column */
};

/* The observed examples by ascending id. The dynamics stay where they are as long as the table is used. They may be a run
 * that has only names (dynamics_open()): run_table_part() then makes tables of its parts. */
void run_table_init(struct run_table *run_table, const struct dynamics *run);

/* A table without columns, and a column for it: TABLE_ID, TABLE_LABEL, TABLE_I32 (the gold label), or the dynamics'
 * column `source`. Then run_table_part() sets where they lie. */
void run_table_begin(struct run_table *run_table);
struct table_column *run_table_add(struct run_table *run_table, const char *name, enum table_type type, size_t source);

/* The same columns of a part of the run, or of the run. */
void run_table_part(struct run_table *part_table, const struct run_table *run_table, const struct dynamics *part);

/* All of the examples to a file or, for NULL, standard output; people get the first and the last. */
int run_table_write(const struct dynamics *run, const char *path, enum table_format format,
                    struct portolan_error *error);

/* Says so if ids that are text take more than four times their own bytes in npy. */
void run_table_note_wide_ids(const struct text_extent *ids);

#endif
