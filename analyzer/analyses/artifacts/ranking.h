/* ranking.h: ranks tokens by how strongly they give the label away, for `portolan artifacts` and `portolan upsample`,
 * and draws the ranking. */
#ifndef RANKING_H
#define RANKING_H

#include "counts.h"
#include "plot/chart.h"
#include "plot/picture.h"
#include "token_statistics.h"

struct ranked_token {
	uint32_t token;
	struct token_statistic statistic;
};

struct ranking {
	struct ranked_token *list; /* z* descending; ties: n descending, then bytewise */
	size_t count;
	size_t significant; /* how many tokens are significant (token_statistics.h) */
	double *priors;     /* by label in order; NULL: the ranking was read from a table, which does not have them */
	uint64_t *shares;   /* whole numbers in proportion to the priors */
	int uniform;        /* as in the request */
	double tests;       /* tokens × labels, by which the tail is multiplied (Bonferroni) */
	uint64_t most;      /* how many records hold the most frequent token */
};

struct ranking_request {
	uint64_t min_count, max_count; /* only tokens in so many records are ranked; max 0: no limit */
	int uniform;                   /* 1: the priors are 1/C; 0: they are in proportion to `shares` */
	const uint64_t *shares;        /* by label; NULL: how many records each label has */
	bool significant_first;        /* the list begins with the significant tokens */
};

extern const char *const ranking_prior_names[]; /* by `uniform` */

void ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking);

/* Reads a ranking from the table `path`, which portolan artifacts has written of other data: the first `most` rows,
 * in the table's order, with their n, label, p* and z*. Tokens that no record of the data at hand holds are left out;
 * returns their number. Ends the program if all are left out, or the data lack a label of the table. */
uint64_t ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking);
void ranking_free(struct ranking *ranking);

/* An upper bound of the probability that chance alone makes any token of the ranking point to a label as strongly as
 * this one (Bonferroni). NaN: it is not known. */
static inline double
ranking_chance(const struct ranking *ranking, const struct token_statistic *statistic)
{
	double chance = statistic->tail * ranking->tests;

	return chance > 1 ? 1 : chance;
}

static inline bool
ranking_is_significant(const struct ranking *ranking, const struct token_statistic *statistic)
{
	return ranking_chance(ranking, statistic) <= SIGNIFICANCE;
}

/* Adds to the panel the share at which a token says nothing, as a line: one for each label, or one line where all
 * shares are equal. The panel's x range is set. The panel points into `lines`. */
struct hint_lines {
	double n[2 * CORPUS_LABELS_MAX], p[2 * CORPUS_LABELS_MAX];
};
void ranking_add_hints(const struct ranking *ranking, size_t label_count, struct chart_panel *panel,
                       struct hint_lines *lines);

/* Draws tokens as points: p* and z* against n (Gardner et al. 2021, Figure 1). Significant tokens have another colour;
 * the first `named` of them have their names. The line of significance is exact. Where the labels' priors differ there
 * are two lines, for the lowest prior and the highest; where the priors are not known there is none. `below` is one
 * more panel, or NULL. `picture` has passed picture_check(). */
void ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
                   const struct chart_panel *below, const struct picture *picture);

#endif
