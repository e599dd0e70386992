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
	struct npy_field *fields; /* one for each column of the table */
	size_t count, size;       /* size: bytes of a record */
};

/* Finds the types and widths of the records of a table. It reads all values of a column that does not say its type or
 * width. Rows of other tables with the same columns can be turned into such records, too. On success call
 * table_record_free(). PORTOLAN_E_MEMORY. */
int table_record_init(struct table_record *record, const struct table *table, struct portolan_error *error);
void table_record_free(struct table_record *record); /* of {0}: nothing */

/* Writes the head of npy for so many rows; its length does not depend on their number. */
void table_record_head(const struct table_record *record, struct output *output, uint64_t rows);

/* Describes records in memory as a table again: fills `columns`, which has room for record->count, over the first
 * record. Of texts, only those in "|S" can be read so. `people`: the columns of the original table, whose numbers
 * people may read as names. */
void table_record_columns(const struct table_record *record, const char *records, const struct table_column *people,
                          struct table_column *columns);

/* Writes some rows of the table as records. Safe from any thread. */
void table_record_rows(const struct table_record *record, const struct table *table, struct output *output,
                       size_t first, size_t count);

/* Writes a whole npy file. */
int table_put_npy(const struct table *table, struct output *output, struct portolan_error *error);

#endif
