/* aflite_chart.c: draws the picture of `aflite --plot`: phase by phase, how many examples were left and what share of
 * the predictions was right; and histograms of how predictable the removed and the kept examples were. */
#include "aflite.h"
#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "plot/chart.h"

#include <math.h>
#include <stdio.h>

#define BARS 25

/* Two histograms of p, the share of an example's last predictions that were right; and the threshold of p, as a
 * line. */
struct predictability {
	double p[BARS], removed[BARS], kept[BARS], threshold_p[2], threshold_examples[2];
};

static void
chart_count_predictability(struct predictability *bars, const struct filter *filter)
{
	const struct filter_scores *scores = &filter->scores;

	for (size_t b = 0; b < BARS; b++)
		bars->p[b] = ((double)b + 0.5) / BARS;
	for (uint32_t example = 0; example < filter->total; example++) {
		uint32_t made = scores->made[example];
		size_t bar = made ? (size_t)(scores->correct[example] / (double)made * BARS) : 0;

		if (made)
			(scores->removed[example] ? bars->removed : bars->kept)[bar < BARS ? bar : BARS - 1]++;
	}
	for (size_t b = 0; b < BARS; b++)
		bars->threshold_examples[1] =
		        fmax(bars->threshold_examples[1], 1.05 * fmax(bars->removed[b], bars->kept[b]));
	bars->threshold_p[0] = bars->threshold_p[1] = filter->options.threshold;
}

void
aflite_draw_chart(const struct filter *filter, const struct picture *picture)
{
	size_t n = filter_lines(filter);
	CLEANUP_FREE double *phase = memory_new(4 * n, sizeof(*phase));
	double *left = phase + n, *p = left + n, *accuracy = p + n;
	struct predictability bars = {0};
	char caption[160];
	struct chart chart = {
	        .title = "AFLite",
	        .caption = caption,
	        .panel_count = 3,
	        .panels = {{.x_label = "phase",
	                    .x_whole = true,
	                    .y_label = "examples left",
	                    .y_whole = true,
	                    .y_max = 1.05 * (double)filter->total,
	                    .series = {{"examples", phase, left, n, CHART_POINTS, 0}},
	                    .series_count = 1},
	                   {.x_label = "phase",
	                    .x_whole = true,
	                    .y_label = "share that is right",
	                    .y_max = 1.02,
	                    .series = {{"mean p of the examples", phase, p, n, CHART_POINTS, 0},
	                               {"held-out accuracy", phase, accuracy, n, CHART_POINTS, 1}},
	                    .series_count = 2},
	                   {.x_label = "predictability p, when last predicted",
	                    .x_max = 1,
	                    .y_label = "examples",
	                    .y_whole = true,
	                    .series = {{"removed", bars.p, bars.removed, BARS, CHART_BARS, 1},
	                               {"kept", bars.p, bars.kept, BARS, CHART_BARS, 0},
	                               {"threshold", bars.threshold_p, bars.threshold_examples, 2, CHART_LINE, 3}},
	                    .series_count = 3}},
	};

	for (size_t i = 0; i < n; i++) {
		phase[i] = (double)i + 1;
		left[i] = (double)filter_line(filter, i)->left;
		p[i] = filter_line(filter, i)->mean_p;
		accuracy[i] = filter_line(filter, i)->accuracy;
	}
	chart_count_predictability(&bars, filter);
	chart.panels[2].y_max = fmax(1, bars.threshold_examples[1]);
	if (filter->made)
		snprintf(caption, sizeof(caption), "%s of %s examples kept; by the predictions of %s models",
		         NUMBER_GROUPED(filter_left(filter)), NUMBER_GROUPED(filter->total),
		         NUMBER_GROUPED(filter->options.partitions));
	else
		snprintf(caption, sizeof(caption),
		         "%s of %s examples kept; %s classifiers a phase, of %s examples each",
		         NUMBER_GROUPED(filter_left(filter)), NUMBER_GROUPED(filter->total),
		         NUMBER_GROUPED(filter->options.partitions), NUMBER_GROUPED(filter->options.train));
	chart_draw(&chart, picture);
}
