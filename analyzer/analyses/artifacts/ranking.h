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
	size_t significant; /* the number of tokens that chance does not explain, at so many tokens */
	double *priors;     /* by label in order; NULL: the ranking was read from a table, which does not have them */
	uint64_t *shares;   /* whole numbers in proportion to the priors */
	int uniform;        /* as in the request */
	double tests;       /* tokens × labels: the number of pairs that chance might favour */
	uint64_t most;      /* the number of records of the most frequent token, whatever the request's limits */
};

struct ranking_request {
	uint64_t min_count, max_count; /* limits of the number of records of a token; max 0: no limit */
	int uniform;                   /* 1: the priors are 1/C; 0: they are in proportion to `shares` */
	const uint64_t *shares;        /* by label; NULL: the numbers of the labels' records */
	bool significant_first;        /* the list begins with the significant tokens */
};

extern const char *const ranking_prior_names[]; /* by `uniform` */

void ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking);

/* Reads a ranking from the table `path`, which portolan artifacts has written of other data: the first `most` rows,
 * in the table's order, with their n, label, p* and z*. Tokens that no record of the data at hand holds are left out;
 * returns their number. Ends the program if all are left out, or the data lack a label of the table. */
uint64_t ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking);
void ranking_free(struct ranking *ranking);

/* At most this is the probability that chance makes one token of the ranking, or more, point to a label as strongly
 * (Bonferroni). NaN: it is not known. */
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

/* Adds a line to the panel at the share that a token has which says nothing: one line for each label, or one line where
 * all shares are equal. The panel's x range is set. The panel points into `lines`. */
struct hint_lines {
	double n[2 * CORPUS_LABELS_MAX], p[2 * CORPUS_LABELS_MAX];
};
void ranking_add_hints(const struct ranking *ranking, size_t label_count, struct chart_panel *panel,
                       struct hint_lines *lines);

/* Draws tokens as points: p* and z* against n (Gardner et al. 2021, Figure 1). Significant tokens have another
 * colour, and the first `named` of them their names. The line of significance is exact. Where the labels' priors
 * differ there are two lines, for the lowest prior and the highest; where the priors are not known there is none.
 * `below` is one more panel, or NULL. `picture` has passed picture_check(). */
void ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
                   const struct chart_panel *below, const struct picture *picture);

#endif
