/* measures_tdds.h: computes Temporal Dual-Depth Scoring (TDDS), a measure of how an example's probabilities of all
 * classes move from epoch to epoch; for the code that fills the columns of a run. */
#ifndef MEASURES_TDDS_H
#define MEASURES_TDDS_H

#include <portolan/store.h>

#include <stddef.h>

#define MEASURES_TDDS_MOVE "tdds_move" /* the user's column of moves, which portolan.TddsMoves makes */

/*
 * Computes TDDS (Zhang et al. 2024, §3) of every example over windows of J = `window` epochs at which it was observed,
 * 2 … MEASURES_WINDOW_MAX. Between one epoch and the next, the distribution moves by
 *
 *     d = Σ over the classes of |q (ln(q + ε) − ln(p + ε))|,   p before, q after, ε = 10⁻⁸;
 *
 * The J − 1 moves of a window vary by √Σ (d − their mean)². TDDS is the sum of these, with the weight 0.9 for the last
 * window, 0.09 for the one before, and so on. `columns` are the columns of the block with the probabilities of the
 * classes; if it is one, that column has the moves d themselves (MEASURES_TDDS_MOVE), of any number of classes: the
 * first of an example is from an epoch before, and does not count. NaN: the example has no window.
 */
void measures_tdds(const struct store_block *block, const unsigned *columns, size_t classes, size_t window,
                   double *tdds);

#endif
