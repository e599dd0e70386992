/* own_columns.h: columns that the caller adds to those that the library derives. */
#ifndef CLIENT_OWN_COLUMNS_H
#define CLIENT_OWN_COLUMNS_H

#include "frames.h"

#define OWN_COLUMNS_REFUSE 2 /* mark in the list of rows to leave out: a bad value in one of these columns */

/* Checks names and types. PORTOLAN_E_INVALID with a message that names the column. */
int own_columns_check(const struct portolan_batch *batch, struct portolan_error *error);

/* Adds the batch's own columns to the set of them. PORTOLAN_E_INVALID: a run has no more than PORTOLAN_OWN_COLUMNS. */
int own_columns_add(struct frames *frames, const struct portolan_batch *batch, uint32_t *columns,
                    struct portolan_error *error);

/* Copies the values of rows first … first+rows−1 of the batch. Marks each unmarked row with a value that is not finite,
 * and returns how many it marked. */
size_t own_columns_fill(struct frames *frames, const struct portolan_batch *batch, size_t first,
                        const struct frame_room *room, uint32_t rows, uint8_t *leave_out);

#endif
