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
	uint16_t sources[RUN_TABLE_COLUMNS]; /* by column of doubles: which of the dynamics' columns it shows */
};

/* Describes the observed examples by ascending id. The dynamics must stay where they are as long as the table is used.
 * They may be a run that was only opened (dynamics_open()) and has no values: run_table_part() then makes tables of its
 * parts. */
void run_table_init(struct run_table *run_table, const struct dynamics *run);

/* Make a table without columns, and add a column to it: TABLE_ID, TABLE_LABEL, TABLE_I32 (the gold label), or the
 * dynamics' column `source`. run_table_part() sets where the values lie. */
void run_table_begin(struct run_table *run_table);
struct table_column *run_table_add(struct run_table *run_table, const char *name, enum table_type type, size_t source);

/* Makes a table with the same columns of a part of the run, or of the whole run. */
void run_table_part(struct run_table *part_table, const struct run_table *run_table, const struct dynamics *part);

/* Writes all observed examples to a file or, for NULL, standard output; people get the first and the last. */
int run_table_write(const struct dynamics *run, const char *path, enum table_format format,
                    struct portolan_error *error);

/* Tells the user if ids that are text take more than four times their own bytes in npy. */
void run_table_note_wide_ids(const struct text_extent *ids);

#endif
