/*
 * nth.h: the n-th largest value of a measure, found in passes over an opened run: the memory is the same whatever the
 * number of examples.
 */
#ifndef NTH_H
#define NTH_H

#include "dynamics.h"

/* What a slot of the scan takes, and all together, in bytes. */
#define NTH_SLOT_BYTES ((uint64_t)STORE_CHUNK * sizeof(uint64_t))

/*
 * The value that stands at place `place` (from 0) when those of the observed examples are sorted in descending order,
 * NaN last. `is_in` says which examples of a part are meant; NULL: all. `place` is below their number.
 */
int nth_largest(struct dynamics *run, const char *column, uint64_t place,
                bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
                double *value, struct portolan_error *error);

#endif
