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
	double *priors; /* of the labels, in order */
	uint64_t most;  /* records that the most frequent token stands in, whatever the limits */
};

struct ranking_request {
	uint64_t min_count, max_count; /* records a token stands in; max 0: no limit */
	bool share;                    /* priors: the labels' shares; else 1/C */
};

int ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking,
                 struct portolan_error *error);

/* The same from the table `path`, which portolan artifacts wrote of other data: the first `most` of its rows, in its
 * order, with its n, label, p* and z*; priors are 1/C. *missing: how many of these tokens no record of the data at hand
 * holds; they are left out. All missing is an error, as is a label that the data do not have. */
int ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking,
                 uint64_t *missing, struct portolan_error *error);
void ranking_free(struct ranking *ranking); /* may be called twice */

/* Tokens as points: p* and z* against n (Gardner et al. 2021, Figure 1). The names of the first `named` tokens that are
 * significant stand beside their points; the line of significance is that at 0.01 after Bonferroni, of all tokens
 * ranked and labels. `below`, unless it is NULL, is one more panel. `picture` was picture_check()ed. */
int ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
                  const struct chart_panel *below, const struct picture *picture, struct portolan_error *error);

#endif
