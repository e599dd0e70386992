/* sides_chart.h: makes bars of both sides' accuracies for the first tokens (Han Chen, Figures 2 and 4). */
#ifndef SIDES_CHART_H
#define SIDES_CHART_H

#include "plot/chart.h"
#include "sides.h"

#define SIDES_BARS 20 /* the most tokens that are shown */

struct sides_bars {
	double accuracy[SIDES][SIDES_BARS], places[SIDES][SIDES_BARS];
	char *names[SIDES_BARS];
	char title[300];
	size_t count;
};

/* The bars show the accuracy at the last epoch. `tokens` are the tokens of the sides. */
void sides_bars_make(struct sides_bars *bars, const struct sides *sides, const struct token_counts *counts,
                     const struct ranked_token *tokens, const struct dynamics *dynamics);
void sides_bars_free(struct sides_bars *bars);

/* The panel points into `bars`. */
struct chart_panel sides_bars_panel(const struct sides_bars *bars);

#endif
