/*
 * table_npy.h: turns the rows of a table into records, all of one size: the elements of NumPy's structured arrays. For
 * tables written as npy, and for code that keeps rows until it can write them (table_stream.h) or sorts them
 * (metrics/ordered.h).
 *
 * Records are little-endian, and their fields are not aligned.
 */
#ifndef TABLE_NPY_H
#define TABLE_NPY_H

#include "npy.h"
#include "table_columns.h"

struct table_record {
	struct npy_field *fields; /* as many as the table has columns */
	size_t count, size;       /* size: bytes of a record */
};

/* The records of the table's rows; reads all of its values where a column does not say its type or width. Tables of the
 * same columns may be turned into them. On success call table_record_free(). PORTOLAN_E_MEMORY. */
int table_record_init(struct table_record *record, const struct table *table, struct portolan_error *error);
void table_record_free(struct table_record *record); /* of {0}: nothing */

/* npy's head, for so many rows; its length does not depend on their number. */
void table_record_head(const struct table_record *record, struct output *output, uint64_t rows);

/* Records in memory as a table again: its columns, over the first record; room for record->count. Only a text in "|S" can
 * be read there. `people`: the columns of the table, whose numbers people may read as names. */
void table_record_columns(const struct table_record *record, const char *records, const struct table_column *people,
                          struct table_column *columns);

/* Some rows of the table, as records. Safe from any thread. */
void table_record_rows(const struct table_record *record, const struct table *table, struct output *output,
                       size_t first, size_t count);

/* A whole file. */
int table_put_npy(const struct table *table, struct output *output, struct portolan_error *error);

#endif
