/* table_aligned.h: prints a table for people, in aligned columns. For table.c: it is the format that commands take on a
 * terminal. */
#ifndef TABLE_ALIGNED_H
#define TABLE_ALIGNED_H

#include "output.h"
#include "table_columns.h"

/* Prints the table. On a terminal that is too narrow for all columns, the others follow below the first ones. If the
 * table is very long, or some of its rows are left out, they do not follow, unless the table is to be shown `whole`: a
 * last line counts them. An empty table has no headings. */
void table_put_aligned(const struct table *table, struct output *output, bool whole);

#endif
