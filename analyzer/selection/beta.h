/*
 * beta.h: makes the weights and the keys by which `portolan select --by dual-beta` draws examples at random (Beta
 * sampling, Cho et al. 2025, §3). The higher an example's measure `dual`, which the paper defines, the likelier it is
 * drawn. The smaller the share of examples that is kept, the more the easy ones are preferred.
 *
 * Of n examples a share k is kept, r = 1 − k is pruned. Each is drawn, without replacement, with a probability in
 * proportion to dual · Beta(confidence; a, b), where
 *
 *     b = 15 (1 − μ) (1 − r^c),    a = 16 − b,
 *
 * μ is the mean confidence of the ten examples with the highest scores, and c, the paper's c_D, says how soon easier
 * examples are preferred as more is pruned: the larger, the later.
 */
#ifndef BETA_H
#define BETA_H

#include <stddef.h>
#include <stdint.h>

#define BETA_ANCHORS 10

/* Fills weights[order[i]], for n examples (dense indices by ascending id), with the logarithm of a number that is in
 * proportion to the example's probability; −∞: the example has no score, or the score 0. */
void beta_log_weights(const double *confidence, const double *dual, const uint32_t *order, size_t n, double kept,
                      double c, double *weights);

/* Replaces each log weight by a key for a draw without replacement: examples with larger keys are drawn earlier
 * (Efraimidis and Spirakis 2006, as logarithms). */
void beta_draw(const uint32_t *order, size_t n, uint64_t seed, double *weights);

#endif
