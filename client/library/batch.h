/*
 * batch.h: what may be asked of portolan_log(). Pure functions over the caller's arrays.
 */
#ifndef CLIENT_BATCH_H
#define CLIENT_BATCH_H

#include <portolan/portolan.h>

/* Checks shapes, types, and every id, label and `correct`; not the scores, whose rows are refused one by one.
 * `examples` > 0: ids must be below it. PORTOLAN_E_INVALID with a message that names argument, row and limit. */
int batch_check(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error);

size_t batch_id_length(const struct portolan_batch *batch, size_t row); /* of a string id, in bytes */

#endif
