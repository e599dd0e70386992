/* sizes.h: computes how many examples a selection of `portolan select` has, and how many of each class. Pure. */
#ifndef SIZES_H
#define SIZES_H

#include <stddef.h>
#include <stdint.h>

/* fraction × n, rounded half up; fraction in [0, 1]. */
size_t selection_size(double fraction, size_t n);

/*
 * Divides `size` ≤ Σ counts among classes in proportion to their counts, by largest remainders (of equal ones the
 * first): quotas[c] is size·counts[c]/Σ counts, rounded down or up, and the quotas add up to size. Counts are below
 * 2^32.
 */
void selection_share_out(const uint32_t *counts, size_t classes, size_t size, size_t *quotas);

#endif
