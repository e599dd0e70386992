/* ranking.h: tokens in the order in which they give the label away. */
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
	size_t significant; /* of them: more than chance, of so many tokens */
	double *priors;     /* of the labels, in order; NULL: of a table, which does not say them */
	uint64_t *shares;   /* whole numbers in proportion to them */
	bool uniform;       /* as the request */
	double tests;       /* tokens × labels, each of which chance might favour */
	uint64_t most;      /* records that the most frequent token stands in, whatever the limits */
};

struct ranking_request {
	uint64_t min_count, max_count; /* records a token stands in; max 0: no limit */
	bool uniform;                  /* priors: 1/C; else the labels' shares, */
	const uint64_t *shares;        /* these, or, if NULL, those of the records */
	bool significant_first;        /* the list begins with them */
};

extern const char *const ranking_prior_names[]; /* by `uniform` */

void ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking);

/* The same from the table `path`, which portolan artifacts wrote of other data: the first `most` of its rows, in its
 * order, with its n, label, p* and z*. *missing: how many of these tokens no record of the data at hand
 * holds; they are left out. All missing is an error, as is a label that the data do not have. */
int ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking,
                 uint64_t *missing, struct portolan_error *error);
void ranking_free(struct ranking *ranking); /* may be called twice */

/* The probability that chance makes one token or more of the ranking point to a label as strongly, at most
 * (Bonferroni); NaN: not known. */
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

/* Lines at the shares that tokens have which say nothing: one of each label, or one where all are equal. They are
 * added to a panel whose x range is set. */
struct hint_lines {
	double n[2 * CORPUS_LABELS_MAX], p[2 * CORPUS_LABELS_MAX];
};
void ranking_add_hints(const struct ranking *ranking, size_t label_count, struct chart_panel *panel,
                       struct hint_lines *lines);

/* Tokens as points: p* and z* against n (Gardner et al. 2021, Figure 1), those that are significant told apart. The
 * first `named` of these have their names beside them. The line of significance is exact, that of any label; where the
 * labels' priors differ there are two, of the lowest and the highest. Of a table that was read, whose priors are not
 * known, there is none. `below`, unless it is NULL, is one more panel. `picture` was picture_check()ed. */
int ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
                  const struct chart_panel *below, const struct picture *picture, struct portolan_error *error);

#endif
