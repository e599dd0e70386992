/*
 * table.h: examples and their measures as rows (rows.h), a NumPy file, or as other programs' tables.
 *
 * Columns: id, gold, the dynamics' columns, and label where the run names its classes. Empty is nothing in CSV and TSV,
 * null in JSON, NaN for float fields of npy and -1 for its integer fields. Write errors are the output's.
 */
#ifndef TABLE_H
#define TABLE_H

#include "measures/dynamics.h"
#include "output/rows.h"

/*
 * A table in parts: begun for a run, which may only have names (dynamics_open()); its parts have the same columns.
 *
 * npy fields: id "<u8" or "<U", gold "<i8", counts that are never empty "<u4", other whole numbers "<i8", floats "<f8",
 * label "<U". cartography: guid, index (by first appearance, as in the published files), threshold_closeness,
 * confidence, variability (or variability_ci in its place), correctness as a count, forgetfulness: the column
 * forgetting_events. aum: sample_id, aum, as the package published with Pleiss et al. 2020 names them; examples without
 * are left out.
 */
enum table_format { TABLE_CSV, TABLE_TSV, TABLE_JSONL, TABLE_NPY, TABLE_CARTOGRAPHY, TABLE_AUM, TABLE_FORMATS };
struct table {
	enum table_format format;
	bool with_ci;          /* of cartography */
	bool for_spreadsheets; /* of CSV: see text_csv_for_spreadsheets() */
	/* private */
	struct rows_column columns[DYNAMICS_COLUMNS_MAX + 3];
	size_t column_count;
	struct table_record *record; /* of npy */
};

/* `ids`: of npy, how long string ids are. */
int table_init(struct table *table, enum table_format format, const struct dynamics *run, const struct text_extent *ids,
               struct portolan_error *error);
void table_free(struct table *table);

/* All of the dynamics' examples, to a file or, for NULL, standard output. */
int table_print(const char *path, enum table_format format, const struct dynamics *dynamics,
                struct portolan_error *error);

/* The first and the last of the dynamics' examples, for people, on standard output. */
int table_show(const struct dynamics *dynamics, struct portolan_error *error);

/* Head and rows are safe from any thread, each with an output of its own. `rows` are dense indices, in
 * the order wanted. npy's head says how many rows there are. */
void table_write_head(const struct table *table, struct output *output, uint64_t rows);
void table_write_rows(const struct table *table, struct output *output, const struct dynamics *part,
                      const uint32_t *rows, size_t count);

/* The rows in aligned columns, for people: all of them, or the first and the last, and a message on stderr counts all. */
void table_show_rows(const struct table *table, struct output *output, const struct dynamics *dynamics,
                     const uint32_t *rows, size_t count, bool with_all);

/* The measures in the format. */
uint32_t table_measures(enum table_format format, bool with_ci);

/* The id as it is. */
void table_write_id(struct output *output, const struct ids *ids, uint32_t index);

/* The id as a value of a row, and its column. */
struct rows_column table_id_column(const struct ids *ids, const char *name);
void table_add_id(struct rows *rows, const struct ids *ids, uint32_t index);

/* The dynamics' columns alone, for rows that have the rest: at most DYNAMICS_COLUMNS_MAX. */
size_t table_columns(const struct dynamics *dynamics, struct rows_column *columns);
void table_add_columns(struct rows *rows, const struct dynamics *dynamics, uint32_t index);

#endif
