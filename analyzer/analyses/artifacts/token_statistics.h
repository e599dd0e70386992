/*
 * token_statistics.h: how strongly a token gives the label away. Pure.
 *
 * Of a token in n records, n_l of them with label l of C, p̂_l = n_l / n:
 *     p* = p̂_l of the label l of z*                         (Gardner et al. 2021, as in Han Chen, Eq. 1)
 *     z* = max_l (p̂_l − p_l) / √(p_l (1 − p_l) / n)          (Eq. 2)
 * where p_l, the prior, is the label's share of all records, or 1/C. With 1/C, which the papers have, p* is max_l p̂_l.
 *
 * Whether chance explains it is not told by z*, which is far from normal where n p_l is small, but by the binomial
 * tail: with probability P(X ≥ n_l), X of n draws with p_l, a token that says nothing stands so often with label l, or
 * oftener. Of T tokens of C labels it is a find at SIGNIFICANCE where that tail times T C is at most so much
 * (Bonferroni).
 */
#ifndef TOKEN_STATISTICS_H
#define TOKEN_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#define SIGNIFICANCE 0.01

struct token_statistic {
	uint64_t n;
	uint32_t label; /* of z* and p*; ties: the first */
	double p_star, z_star;
	double tail; /* P(X ≥ n_l) of this label; NaN: not known */
};

/* counts: by label; priors in (0, 1). n = 0 makes NaN of all three. */
struct token_statistic token_statistic(const uint64_t *counts, const double *priors, size_t labels);

/* P(X ≥ k), X binomial of n draws with probability p in (0, 1): exact but for rounding, 1e-8 of it for n up to a
 * million. Any 0 ≤ k ≤ n, not whole ones alone: the incomplete beta function I_p(k, n − k + 1), which falls with k. */
double binomial_tail(double k, double n, double p);

/* The k from which on that tail is at most `level`, whole or not; NaN: even n is too few. */
double binomial_line(double n, double p, double level);

#endif
