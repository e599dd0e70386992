/*
 * sides_chart.c: makes the panel of `artifacts --plot` that compares, token by token, the accuracy on the records with
 * the token's leading label and on the others (sides.h). A side of which nothing was observed has no bar.
 */
#include "sides_chart.h"

#include <stdlib.h>

#define BESIDE 0.2 /* of the way from name to name: the first bar above, the second below */

void
sides_bars_make(struct sides_bars *bars, const struct sides *sides, const struct token_counts *counts,
                const struct ranked_token *tokens, const struct dynamics *dynamics)
{
	size_t last = sides->epoch_count - 1;

	*bars = (struct sides_bars){0};
	snprintf(bars->title, sizeof(bars->title), "accuracy of %s, epoch %u", dynamics->info->name,
	         (unsigned)dynamics->epochs[last]);
	for (; bars->count < sides->token_count && bars->count < SIDES_BARS; bars->count++) {
		size_t i = bars->count, length;
		const char *text = names_text(&counts->tokens, tokens[i].token, &length);

		bars->names[i] = memory_copy(text, length);
		for (int side = 0; side < SIDES; side++) {
			bars->accuracy[side][i] = side_accuracy(&sides->tokens[i][side], last);
			bars->places[side][i] = (side == SIDE_MAJORITY ? BESIDE : -BESIDE) - (double)i;
		}
	}
}

void
sides_bars_free(struct sides_bars *bars)
{
	for (size_t i = 0; i < bars->count; i++)
		free(bars->names[i]);
	*bars = (struct sides_bars){0};
}

/* gnuplot knows no series without a point. */
static bool
sides_bars_has(const struct sides_bars *bars, int side)
{
	bool has = false;

	for (size_t i = 0; i < bars->count; i++)
		has = has || isfinite(bars->accuracy[side][i]);
	return has;
}

struct chart_panel
sides_bars_panel(const struct sides_bars *bars)
{
	static const char *const keys[SIDES] = {"with its leading label", "with another label"};
	struct chart_panel panel = {.title = bars->title,
	                            .x_label = "accuracy on records that hold the token",
	                            .y_label = "",
	                            .x_max = 1,
	                            .y_names = (const char *const *)bars->names,
	                            .y_name_count = bars->count};

	for (int side = 0; side < SIDES; side++)
		if (sides_bars_has(bars, side))
			panel.series[panel.series_count++] =
			        (struct chart_series){keys[side],  bars->accuracy[side], bars->places[side],
			                              bars->count, CHART_ACROSS,         (unsigned)side};
	return panel;
}
