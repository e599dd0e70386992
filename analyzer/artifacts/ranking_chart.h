/* ranking_chart.h: tokens as points: p* and z* against n (Gardner et al. 2021, Figure 1). */
#ifndef RANKING_CHART_H
#define RANKING_CHART_H

#include "plot/picture.h"
#include "ranking.h"

/* Writes the names of the first `named` tokens that are significant beside their points, and draws the line of
 * significance at 0.01 after Bonferroni, of all tokens ranked and labels. The picture was
 * picture_check()ed. */
int ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
                  const struct picture *picture, struct portolan_error *error);

#endif
