/* measures_tdds.h: Temporal Dual-Depth Scoring, of whole distributions; for those who fill the dynamics' columns. */
#ifndef MEASURES_TDDS_H
#define MEASURES_TDDS_H

#include <portolan/store.h>

#include <stddef.h>

/*
 * TDDS (Zhang et al. 2024, §3) of every example, over windows of J = `window` epochs, 2 … MEASURES_WINDOW_MAX, that it was observed at. Between
 * one epoch and the next its distribution moves by
 *
 *     d = Σ over the classes of |q (ln(q + ε) − ln(p + ε))|,   p before, q after, ε = 10⁻⁸;
 *
 * the J − 1 moves of a window are as varied as √Σ (d − their mean)², which counts 0.9 in the last window, 0.09 in the one
 * before, and so on. `columns` are those of the block that hold the classes' probabilities. NaN where there is no window.
 */
void measures_tdds(const struct store_block *block, const unsigned *columns, size_t classes, size_t window,
                   double *tdds);

#endif
