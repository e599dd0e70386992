/* top.h: the first k of n values in order, without sorting all n, for code that ranks many examples and shows or
 * selects few. Pure: the caller brings the memory. */
#ifndef TOP_H
#define TOP_H

#include "base/sort.h"

#include <stdbool.h>

/*
 * Finds the k ≤ n < 2^32 values that come first, ascending or descending, of values[order[0]] … values[order[n−1]].
 * Fills items[], which has room for 2 k, with their keys (base/sort.h) and indices, sorted. NaN comes last; equal values
 * keep the order of `order`. The k-th key is found by counting, from its top bits on; so memory grows with k only, and
 * time with n.
 */
void top_of_values(const double *values, bool descending, const uint32_t *order, size_t n, size_t k,
                   struct sort_item *items);

/* The k-th value, k ≥ 1. Takes 90 KB of the stack. */
double top_value(const double *values, bool descending, const uint32_t *order, size_t n, size_t k);

#endif
