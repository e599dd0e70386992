/* sides_chart.h: for each of the first tokens a bar for either side's accuracy (Han Chen, Figures 2 and 4). */
#ifndef SIDES_CHART_H
#define SIDES_CHART_H

#include "plot/chart.h"
#include "sides.h"

#define SIDES_BARS 20 /* tokens that are shown, at most */

struct sides_bars {
	double accuracy[SIDES][SIDES_BARS], places[SIDES][SIDES_BARS];
	char *names[SIDES_BARS];
	char title[300];
	size_t count;
};

/* Of the accuracy at the last epoch; `tokens` are those that the sides were made of. */
void sides_bars_make(struct sides_bars *bars, const struct sides *sides, const struct token_counts *counts,
                     const struct ranked_token *tokens, const struct dynamics *dynamics);
void sides_bars_free(struct sides_bars *bars);

/* It points into `bars`. */
struct chart_panel sides_bars_panel(const struct sides_bars *bars);

#endif
