/*
 * table_npy.h: the table as one structured NumPy array; for table.c and export.c.
 *
 * rows.h has npy too, but keeps every cell until it knows them all, and makes them one by one. Here the records' size
 * is known before the first of them, so that threads write them to their places.
 */
#ifndef TABLE_NPY_H
#define TABLE_NPY_H

#include "table.h"

/* *record is to be freed with free(). */
struct table_record;
int table_record_new(struct table_record **record, const struct dynamics *run, const struct text_extent *ids,
                     struct portolan_error *error);
/* Warns if string ids take more than four times their own bytes. */
void table_note_wide_ids(const struct text_extent *ids);
size_t table_record_bytes(const struct table_record *record);
void table_record_head(const struct table_record *record, struct output *output, uint64_t rows);
void table_record_rows(const struct table_record *record, struct output *output, const struct dynamics *part,
                       const uint32_t *rows, size_t count);

#endif
