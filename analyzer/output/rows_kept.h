/* rows_kept.h: the rows of a table that wait for its head: the head of npy says how wide texts are and how many rows
 * follow, the head of aligned columns is as wide as the columns. For rows.c. */
#ifndef ROWS_KEPT_H
#define ROWS_KEPT_H

#include "rows.h"

/* Rows of so many columns. NULL: out of memory. */
struct rows_kept *rows_kept_new(const struct rows *rows);
void rows_kept_free(struct rows_kept *kept); /* NULL: nothing */

/* The next value. Lack of memory is kept, for rows_kept_error(). */
void rows_kept_add(struct rows_kept *kept, uint64_t cell);
void rows_kept_add_text(struct rows_kept *kept, const char *text, size_t length);
void rows_kept_add_empty(struct rows_kept *kept, uint64_t cell);
int rows_kept_error(const struct rows_kept *kept, struct portolan_error *error);

/* Of aligned columns, whose values are all texts: a value, and how wide the column's values are on a terminal. */
const char *rows_kept_text(const struct rows_kept *kept, uint64_t row, size_t column, size_t *length);
size_t rows_kept_width(const struct rows_kept *kept, size_t column);

/* Write rows->kept, with the head. */
void rows_kept_write_npy(const struct rows_kept *kept, const struct rows *rows);
void rows_write_aligned(const struct rows *rows); /* rows_aligned.c */

#endif
