/*
 * token_statistics.h: how strongly a token gives the label away. Pure.
 *
 * Of a token in n records, n_l of them with label l of C, p̂_l = n_l / n:
 *     p* = p̂_l of the label l of z*                         (Gardner et al. 2021, as in Han Chen, Eq. 1)
 *     z* = max_l (p̂_l − p_l) / √(p_l (1 − p_l) / n)          (Eq. 2)
 * where p_l, the prior, is 1/C, or the label's share of all records. With 1/C, which the papers have, p* is max_l p̂_l.
 */
#ifndef TOKEN_STATISTICS_H
#define TOKEN_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

struct token_statistic {
	uint64_t n;
	uint32_t label; /* of z* and p*; ties: the first */
	double p_star, z_star;
};

/* counts: by label; priors in (0, 1). n = 0 makes NaN of both. */
struct token_statistic token_statistic(const uint64_t *counts, const double *priors, size_t labels);

/* The z above which a standard normal deviate lies with probability p, 0 < p < 1. */
double normal_upper_quantile(double p);

/* The z* of significance at `level`, corrected after Bonferroni for `tests` looks at the data. */
double bonferroni_z(double level, double tests);

#endif
