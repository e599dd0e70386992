/* batch.h: checks the arguments of portolan_log(), and reads integers out of a struct portolan_array of any type,
 * stride and alignment; for log.c. Pure functions over the caller's arrays. */
#ifndef CLIENT_BATCH_H
#define CLIENT_BATCH_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* Checks shapes, types, names of columns, and every id, label and `correct`. Scores are not checked here: rows with bad
 * scores are refused one by one. `examples` > 0: ids must be below it. PORTOLAN_E_INVALID with a message that names
 * argument, row and limit.
 */
int batch_check(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error);

size_t batch_id_length(const struct portolan_batch *batch, size_t row); /* of a string id, in bytes */

/* arrays.c */
bool arrays_is_integer(enum portolan_type type);

/* Are all n integers within 0 … most? If not, *row is the first that is not, and *negative and *value its value (*value
 * holds the bits of a negative number as int64_t). */
bool arrays_within(const struct portolan_array *array, size_t n, uint64_t most, size_t *row, bool *negative,
                   uint64_t *value);

/* Rows first … first+n−1, as they are or cut to the width of the result. */
void arrays_read_u64(const struct portolan_array *array, size_t first, size_t n, uint64_t *values);
void arrays_read_i32(const struct portolan_array *array, size_t first, size_t n, int32_t *values);

#endif
