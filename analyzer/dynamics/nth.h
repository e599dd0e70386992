/*
 * nth.h: the n-th largest value of a measure, found in passes over an opened run: the memory is the same whatever the
 * number of examples.
 */
#ifndef NTH_H
#define NTH_H

#include "dynamics.h"

/* What a slot of the scan takes, and what comes on top, in bytes. */
#define NTH_SLOT_BYTES ((uint64_t)STORE_CHUNK * sizeof(uint64_t))
#define NTH_BYTES (UINT64_C(1) << 20)
#define NTH_PLACES_MAX 2

/*
 * The value that stands at place `place` (from 0) when those of the observed examples are sorted in descending order,
 * NaN last. `is_in` says which examples of a part are meant; NULL: all. `place` is below their number.
 */
int nth_largest(struct dynamics *run, const char *column, uint64_t place,
                bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
                double *value, struct portolan_error *error);

/* The values at several places, `count` ≤ NTH_PLACES_MAX, in as many passes as that at one takes. */
int nth_largest_of(struct dynamics *run, const char *column, const uint64_t *places, size_t count,
                   bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
                   double *values, struct portolan_error *error);

#endif
