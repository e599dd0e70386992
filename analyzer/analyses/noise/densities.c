/*
 * densities.c: draws how confidence, or AUM, is distributed among flipped and clean examples, or in the two groups of a
 * mixture, for `noise fit --plot` and `noise mixture --plot`.
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

static void
histogram_flips(const struct densities_run *run, struct histogram *clean, struct histogram *flipped)
{
	const double *confidence = dynamics_measure(run->dynamics, MEASURE_CONFIDENCE);
	CLEANUP_ARRAY uint8_t *is_flipped = flips_mark(run->flips, run->dynamics);

	histogram_begin(clean, 0, 1);
	histogram_begin(flipped, 0, 1);
	for (size_t i = 0; i < run->dynamics->count; i++) {
		uint32_t row = run->dynamics->order[i];

		histogram_count(is_flipped[row] ? flipped : clean, confidence[row]);
	}
	histogram_end(clean);
	histogram_end(flipped);
}

void
densities_draw_flips(const struct densities_run *before, const struct densities_run *after,
                     const struct picture *picture)
{
	const struct densities_run *runs[CHART_PANELS_MAX] = {before ? before : after, after};
	const char *names[CHART_PANELS_MAX] = {before ? "before flipping" : "after flipping", "after flipping"};
	struct histogram histograms[CHART_PANELS_MAX][2];
	double most = 0;
	char caption[128];
	struct chart chart = {.title = after->dynamics->info->name, .caption = caption, .panel_count = before ? 2 : 1};

	for (size_t p = 0; p < chart.panel_count; p++) {
		struct histogram *clean = &histograms[p][0], *flipped = &histograms[p][1];

		histogram_flips(runs[p], clean, flipped);
		chart.panels[p] = (struct chart_panel){
		        .title = names[p],
		        .x_label = "confidence",
		        .y_label = "density",
		        .x_max = 1,
		        .series = {{"clean", clean->x, clean->y, BINS, CHART_BARS, 0},
		                   {p == 0 && before ? "to be flipped" : "flipped", flipped->x, flipped->y, BINS,
		                    CHART_BARS, 1}},
		        .series_count = 2,
		};
		for (size_t b = 0; b < BINS; b++)
			most = fmax(most, 1.05 * fmax(clean->y[b], flipped->y[b]));
	}
	for (size_t p = 0; p < chart.panel_count; p++)
		chart.panels[p].y_max = most; /* both panels have the same scale */
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
