/* top.h: the first k of n values without sorting all of them. Pure: the caller brings the memory. */
#ifndef TOP_H
#define TOP_H

#include "base/sort.h"

#include <stdbool.h>

/*
 * Of values[order[0]] … values[order[n−1]], the k ≤ n that come first, ascending or descending: fills items[] (room for
 * 2 k) with their keys (see sort.h) and indices, sorted; equal values, and NaN, which comes last, in the order of `order`.
 * The k-th key is found from its top bits on, by counting, so memory grows with k only, and time with n.
 */
void top_of_values(const double *values, bool descending, const uint32_t *order, size_t n, size_t k,
                   struct sort_item *items);

/* The last of these alone, k ≥ 1: the k-th value. */
double top_value(const double *values, bool descending, const uint32_t *order, size_t n, size_t k);

#endif
