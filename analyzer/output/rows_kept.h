/* rows_kept.h: the rows of a table that wait for its head: npy's says how wide texts are and how many rows follow, that
 * of aligned columns how wide they are. For rows.c. */
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

/* Writes them, with their head. */
void rows_kept_write_npy(const struct rows_kept *kept, const struct rows *rows);
void rows_kept_write_aligned(const struct rows_kept *kept, const struct rows *rows);

#endif
