/*
 * densities.c: draws how confidence and variability are distributed among flipped and clean examples, or confidence, or
 * AUM, in the two groups of a mixture, for `noise fit --plot` and `noise mixture --plot`.
 *
 * Each histogram has the area 1, so that few flipped and many clean examples can be compared by eye. The two groups of
 * a mixture have their shares as areas.
 */
#include "densities.h"

#include "base/number.h"
#include "die/die.h"
#include "die/memory.h"
#include "plot/chart.h"

#include <math.h>

#define BINS 50
#define POINTS 401

struct histogram {
	double from, to;
	double x[BINS], y[BINS]; /* of each bin: its middle, its density */
	size_t n;
};

static void
histogram_begin(struct histogram *histogram, double from, double to)
{
	*histogram = (struct histogram){.from = from, .to = to};
	for (int b = 0; b < BINS; b++)
		histogram->x[b] = from + (to - from) * (b + 0.5) / BINS;
}

static void
histogram_count(struct histogram *histogram, double value)
{
	int bin = (int)floor((value - histogram->from) / (histogram->to - histogram->from) * BINS);

	histogram->y[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
	histogram->n++;
}

static void
histogram_end(struct histogram *histogram)
{
	for (int b = 0; b < BINS; b++)
		histogram->y[b] *=
		        BINS / ((histogram->to - histogram->from) * (double)(histogram->n ? histogram->n : 1));
}

/* The histograms of one measure in one run. */
struct flips_histograms {
	struct histogram clean, flipped;
};

static void
histogram_flips(const struct densities_run *run, enum measure measure, double to, struct flips_histograms *histograms)
{
	const double *values = dynamics_measure(run->dynamics, measure);
	CLEANUP_ARRAY uint8_t *is_flipped = flips_mark(run->flips, run->dynamics);

	histogram_begin(&histograms->clean, 0, to);
	histogram_begin(&histograms->flipped, 0, to);
	for (size_t i = 0; i < run->dynamics->count; i++) {
		uint32_t row = run->dynamics->order[i];

		histogram_count(is_flipped[row] ? &histograms->flipped : &histograms->clean, values[row]);
	}
	histogram_end(&histograms->clean);
	histogram_end(&histograms->flipped);
}

/* Adds a histogram to a panel: bars, or, if there are several of a kind, a line. What is 0 has no place on a logarithmic
 * axis: a line goes down to the panel's edge there, which follows from the smallest density. */
static void
densities_add(struct chart_panel *panel, const char *name, struct histogram *histogram, bool as_line, unsigned colour)
{
	panel->series[panel->series_count++] = (struct chart_series){
	        name, histogram->x, histogram->y, BINS, as_line ? CHART_POINTS : CHART_BARS, colour};
	for (int b = 0; b < BINS; b++) {
		panel->y_max = fmax(panel->y_max, 1.5 * histogram->y[b]);
		if (histogram->y[b] > 0)
			panel->y_min = fmin(panel->y_min, 0.7 * histogram->y[b]);
	}
}

/* Lifts densities of 0 to the panel's lower edge. */
static void
densities_end(const struct chart_panel *panel, struct flips_histograms *histograms, size_t count)
{
	for (size_t h = 0; h < count; h++)
		for (int b = 0; b < BINS; b++) {
			histograms[h].clean.y[b] = fmax(histograms[h].clean.y[b], panel->y_min);
			histograms[h].flipped.y[b] = fmax(histograms[h].flipped.y[b], panel->y_min);
		}
}

void
densities_draw_flips(const struct densities_run *before, const struct densities_run *after,
                     const struct picture *picture)
{
	static const enum measure measures[] = {MEASURE_CONFIDENCE, MEASURE_VARIABILITY};
	static const double ends[] = {1, 0.5}; /* a standard deviation of numbers from 0 to 1 is 0.5 at most */
	struct flips_histograms histograms[2][2];
	char caption[160];
	struct chart chart = {.title = after->dynamics->info->name, .caption = caption, .panel_count = 2};

	for (size_t p = 0; p < chart.panel_count; p++) {
		struct chart_panel *panel = &chart.panels[p];

		*panel = (struct chart_panel){.x_label = measure_infos[measures[p]].name,
		                              .x_max = ends[p],
		                              .y_label = "density",
		                              .y_log = true,
		                              .y_min = INFINITY};
		histogram_flips(after, measures[p], ends[p], &histograms[p][0]);
		if (before) {
			histogram_flips(before, measures[p], ends[p], &histograms[p][1]);
			densities_add(panel, "clean, before", &histograms[p][1].clean, true, 4);
			densities_add(panel, "to be flipped", &histograms[p][1].flipped, true, 2);
		}
		densities_add(panel, before ? "clean, after" : "clean", &histograms[p][0].clean, before, 0);
		densities_add(panel, "flipped", &histograms[p][0].flipped, before, 1);
		densities_end(panel, histograms[p], before ? 2 : 1);
	}
	snprintf(caption, sizeof(caption), "%s of %s labels flipped; each histogram has the area 1",
	         NUMBER_GROUPED(after->flips->count), NUMBER_GROUPED(after->dynamics->count));
	chart_draw(&chart, picture);
}

void
densities_draw_mixture(const char *run, const char *measure, const double *values, size_t n,
                       const struct mixture *mixture, const struct picture *picture)
{
	bool is_beta = mixture->kind == MIXTURE_BETA;
	double from = is_beta ? 0 : INFINITY, to = is_beta ? 1 : -INFINITY;
	double x[POINTS], low[POINTS], high[POINTS], most = 0;
	struct histogram histogram;
	char caption[160];
	struct chart chart = {.title = run, .caption = caption, .panel_count = 1};

	for (size_t i = 0; !is_beta && i < n; i++) {
		from = fmin(from, values[i]);
		to = fmax(to, values[i]);
	}
	histogram_begin(&histogram, from, to);
	for (size_t i = 0; i < n; i++)
		histogram_count(&histogram, values[i]);
	histogram_end(&histogram);
	for (int i = 0; i < POINTS; i++) {
		x[i] = from + (to - from) * (i + 0.5) / POINTS;
		low[i] = mixture_density(mixture, &mixture->low, x[i]);
		high[i] = mixture_density(mixture, &mixture->high, x[i]);
	}
	for (int b = 0; b < BINS; b++) /* not by the curves: they may tend to infinity at the edges */
		most = fmax(most, 1.15 * histogram.y[b]);
	chart.panels[0] = (struct chart_panel){
	        .x_label = measure,
	        .y_max = most,
	        .y_label = "density",
	        .x_min = from,
	        .x_max = to,
	        .series = {{"all examples", histogram.x, histogram.y, BINS, CHART_BARS, 4},
	                   {"the low group", x, low, POINTS, CHART_LINE, 1},
	                   {"the high group", x, high, POINTS, CHART_LINE, 3}},
	        .series_count = 3,
	};
	snprintf(caption, sizeof(caption), "%s examples; a mixture of two %s distributions, the low one %.1f%%",
	         NUMBER_GROUPED(n), is_beta ? "beta" : "normal", 100 * mixture->low.share);
	chart_draw(&chart, picture);
}
