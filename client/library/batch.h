/* batch.h: checks the arguments of portolan_log(), and reads integers out of a struct portolan_array of any type,
 * stride and alignment; for log.c. Pure functions over the caller's arrays. */
#ifndef CLIENT_BATCH_H
#define CLIENT_BATCH_H

#include <portolan/portolan.h>

#include <stdbool.h>

/* Checks shapes, types, names of columns, and every id, label and `correct`. Scores are not checked: log.c refuses rows
 * with bad scores one by one. If `examples` > 0, ids must be below it. PORTOLAN_E_INVALID with a message that names
 * argument, row and limit.
 */
int batch_check(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error);

/* Checks the ids alone, as batch_check() does. */
int batch_check_ids(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error);

extern const char batch_unknown[]; /* the error where `reserved` of a public struct is not NULL */

size_t batch_id_length(const struct portolan_batch *batch, size_t row); /* bytes of a string id */

/* In arrays.c: is it a type of integers? */
bool arrays_is_integer(enum portolan_type type);

/* Are all n integers within 0 … most? If not, *row is the first row that is not, *value is its value, and *negative
 * says whether that is negative: then *value has the bits of the number as int64_t. */
bool arrays_within(const struct portolan_array *array, size_t n, uint64_t most, size_t *row, bool *negative,
                   uint64_t *value);

/* Read rows first … first+n−1. A number that is too wide for the result is cut to its width. */
void arrays_read_u64(const struct portolan_array *array, size_t first, size_t n, uint64_t *values);
void arrays_read_i32(const struct portolan_array *array, size_t first, size_t n, int32_t *values);

#endif
