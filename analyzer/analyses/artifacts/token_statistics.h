/*
 * token_statistics.h: computes from its counts how strongly a token gives the label away, for ranking.c. Pure.
 *
 * For a token that stands in n records, of which n_l have label l of C labels, with p̂_l = n_l / n:
 *     p* = p̂_l of the label l of z*                         (Gardner et al. 2021, as in Han Chen, Eq. 1)
 *     z* = max_l (p̂_l − p_l) / √(p_l (1 − p_l) / n)          (Eq. 2)
 * where p_l, the prior, is the label's share of all records, or 1/C. With 1/C, which the papers have, p* is max_l p̂_l.
 *
 * z* does not tell whether chance explains the token, as it is far from normal where n p_l is small. The binomial tail
 * does: P(X ≥ n_l), for X of n draws with p_l, is the probability that a token which says nothing stands with label l
 * so often, or more often. Among T tokens and C labels a token is significant if the tail times T C is at most
 * SIGNIFICANCE (Bonferroni).
 */
#ifndef TOKEN_STATISTICS_H
#define TOKEN_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#define SIGNIFICANCE 0.01

struct token_statistic {
	uint64_t n;
	uint32_t label; /* the label of z* and p*; of equal ones the first */
	double p_star, z_star;
	double tail; /* P(X ≥ n_l) for this label; NaN: it is not known */
};

/* `counts` and `priors` are by label; priors are in (0, 1). With n = 0, p*, z* and the tail are NaN. */
struct token_statistic token_statistic(const uint64_t *counts, const double *priors, size_t labels);

/* P(X ≥ k) for X binomial with n draws and probability p in (0, 1), with a relative error of 1e-8 for n up to a
 * million. k need not be whole, 0 ≤ k ≤ n: it is the incomplete beta function I_p(k, n − k + 1), which falls with k. */
double binomial_tail(double k, double n, double p);

/* The least k, whole or not, with binomial_tail(k, n, p) ≤ `level`; NaN: even k = n has a larger tail. */
double binomial_line(double n, double p, double level);

#endif
