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

/* Writes the whole table to a file, or, for NULL and "-", to standard output. PORTOLAN_E_INVALID: npy on a terminal; or
 * two columns with the same name, in npy and JSON lines. */
int table_write(const struct table *table, const char *path, enum table_format format, struct portolan_error *error);
/* Writes the whole table to an output of the caller's, who finishes it. */
int table_write_to(const struct table *table, struct output *output, enum table_format format,
                   struct portolan_error *error);

/* Adds the table to a report: as a list of objects in JSON, as aligned columns in text. */
void table_report(struct report *report, const char *key, const struct table *table);

/* Write, in CSV, TSV or JSON lines, the head of the table, and some of its rows without the head. Write errors are the
 * output's. Safe from any thread, each with an output of its own. */
void table_put_head(const struct table *table, struct output *output, enum table_format format);
void table_put_rows(const struct table *table, struct output *output, enum table_format format, size_t first,
                    size_t count);

/* PORTOLAN_E_INVALID: the output is a terminal, which npy is not for. */
int table_check_npy(const struct output *output, struct portolan_error *error);

/* Returns the table, or, if it is long, one with only its first and last TABLE_ENDS rows: `ends` becomes the order of
 * that one. */
struct table table_cut(const struct table *table, uint32_t ends[2 * TABLE_ENDS]);

#endif
