/* measures_losses.h: computes the measures of how an example's loss went, for the code that fills the columns of a run:
 * of a run that records losses, and of the cross-entropy where a run records labels. */
#ifndef MEASURES_LOSSES_H
#define MEASURES_LOSSES_H

#include <portolan/store.h>

#include <stddef.h>

#define LOSS_EMA_ALPHA 0.001 /* the default of datumaro's LossDynamicsAnalyzer */

/*
 * Each is by row of the block, over the E epochs e = e_1 … e_E at which its example was observed, with the losses l_i;
 * NULL: it is not asked for.
 *
 *   ema        s_E, with s_0 = 0 and s_i = (1 − α) s_(i−1) + α l_i, α = LOSS_EMA_ALPHA
 *   speed      −b, where b is the slope of the line through the points (e_i, l_i) by least squares; NaN for E < 2
 *   detrended  √(Σ r_i² / E), where r_i are the deviations from that line; NaN for E < 3
 *
 * `epochs` are the numbers of the block's epochs. The block's gold_prob is the loss where `of_losses` says so, and else a
 * probability p, with l = −ln p and at most 150 ln 2. A row without observations has NaN.
 */
void measures_losses(const struct store_block *block, const uint32_t *epochs, bool of_losses, double *ema,
                     double *speed, double *detrended);

#endif
