/*
 * table.h: writes a command's table, which table_columns.h describes, in the format that the user chose, to a file, an
 * output or a report.
 *
 *     code = table_write(&table, path, format, &error);   to a file, or to standard output
 *     table_report(&report, "epochs", &table);            as a list in a report
 */
#ifndef TABLE_H
#define TABLE_H

#include "report.h"
#include "table_columns.h"
#include "table_format.h"

/* The whole table to a file, or, for NULL and "-", to standard output. PORTOLAN_E_INVALID: npy on a terminal; two columns
 * of one name, in npy and JSON lines. */
int table_write(const struct table *table, const char *path, enum table_format format, struct portolan_error *error);
/* The same to an output of the caller's, who finishes it. */
int table_write_to(const struct table *table, struct output *output, enum table_format format,
                   struct portolan_error *error);

/* A list of objects in JSON; in a report that is text, aligned columns. */
void table_report(struct report *report, const char *key, const struct table *table);

/* Some of the rows in CSV, TSV or JSON lines, without a head, and the head. Write errors are the output's. Safe from any
 * thread, each with an output of its own. */
void table_put_head(const struct table *table, struct output *output, enum table_format format);
void table_put_rows(const struct table *table, struct output *output, enum table_format format, size_t first,
                    size_t count);

/* PORTOLAN_E_INVALID: a terminal, which npy is not for. */
int table_check_npy(const struct output *output, struct portolan_error *error);

/* The table with the first and the last TABLE_ENDS of its rows, if it has many more: `ends` becomes its order. */
struct table table_cut(const struct table *table, uint32_t ends[2 * TABLE_ENDS]);

#endif
