/* measures_windows.h: computes dyn_unc and dual, the measures over windows of consecutive epochs; for measures.c. */
#ifndef MEASURES_WINDOWS_H
#define MEASURES_WINDOWS_H

#include <portolan/store.h>

#include <stddef.h>

/* Fills dyn_unc[0 … block->rows−1] and dual[…], either of which may be NULL; window ≥ 2. NaN for an example that was
 * observed at fewer epochs. */
void measures_windows(const struct store_block *block, size_t window, double *dyn_unc, double *dual);

#endif
