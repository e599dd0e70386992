/* table_aligned.h: prints a table for people, in aligned columns. For table.c: it is the format that commands take on a
 * terminal. */
#ifndef TABLE_ALIGNED_H
#define TABLE_ALIGNED_H

#include "output.h"
#include "table_columns.h"

/* On a terminal that is too narrow for all columns, the others follow below the first ones; unless the table is very
 * long, or rows are left out, and it is not `whole`: a last line then counts these columns. An empty table has no
 * headings. */
void table_put_aligned(const struct table *table, struct output *output, bool whole);

#endif
