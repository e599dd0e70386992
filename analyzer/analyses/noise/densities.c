/*
 * densities.c: histograms of area 1, so that few flipped and many clean examples can be compared by eye. The two groups
 * of a mixture have their shares as areas.
 */
#include "densities.h"

#include "base/arrays.h"
#include "base/number.h"
#include "plot/chart.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define BINS 50
#define POINTS 401

struct histogram {
	double x[BINS], y[BINS]; /* middles, densities */
	size_t n;
};

static void
begin(struct histogram *histogram, double from, double to)
{
	*histogram = (struct histogram){0};
	for (int b = 0; b < BINS; b++)
		histogram->x[b] = from + (to - from) * (b + 0.5) / BINS;
}

static void
count(struct histogram *histogram, double from, double to, double value)
{
	int bin = (int)floor((value - from) / (to - from) * BINS);

	histogram->y[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
	histogram->n++;
}

static void
finish(struct histogram *histogram, double from, double to)
{
	for (int b = 0; b < BINS; b++)
		histogram->y[b] *= BINS / ((to - from) * (double)(histogram->n ? histogram->n : 1));
}

static int
make_flip_histograms(const struct densities_run *run, struct histogram *clean, struct histogram *flipped,
                     struct portolan_error *error)
{
	const double *confidence = dynamics_measure(run->dynamics, MEASURE_CONFIDENCE);
	uint8_t *is_flipped = array_new(run->dynamics->ids.rows, 1, "marks", error);

	if (!is_flipped)
		return PORTOLAN_E_MEMORY;
	for (size_t i = 0; i < run->flips->count; i++)
		is_flipped[run->flips->flips[i].row] = 1;
	begin(clean, 0, 1);
	begin(flipped, 0, 1);
	for (size_t i = 0; i < run->dynamics->count; i++) {
		uint32_t row = run->dynamics->order[i];

		count(is_flipped[row] ? flipped : clean, 0, 1, confidence[row]);
	}
	finish(clean, 0, 1);
	finish(flipped, 0, 1);
	array_free(is_flipped);
	return 0;
}

int
densities_draw_flips(const struct densities_run *before, const struct densities_run *after,
                     const struct picture *picture, struct portolan_error *error)
{
	const struct densities_run *runs[CHART_PANELS_MAX] = {before ? before : after, after};
	const char *names[CHART_PANELS_MAX] = {before ? "before flipping" : "after flipping", "after flipping"};
	struct histogram histograms[CHART_PANELS_MAX][2];
	double most = 0;
	char caption[128], flips[NUMBER_ROOM], all[NUMBER_ROOM];
	struct chart chart = {.title = after->dynamics->info->name, .caption = caption, .panel_count = before ? 2 : 1};

	for (size_t p = 0; p < chart.panel_count; p++) {
		struct histogram *clean = &histograms[p][0], *flipped = &histograms[p][1];

		if (make_flip_histograms(runs[p], clean, flipped, error) < 0)
			return PORTOLAN_E_MEMORY;
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
	}
	for (size_t p = 0; p < chart.panel_count; p++) /* one axis for both */
		for (size_t b = 0; b < 2 * BINS; b++)
			most = fmax(most, 1.05 * histograms[p][b / BINS].y[b % BINS]);
	for (size_t p = 0; p < chart.panel_count; p++)
		chart.panels[p].y_max = most;
	number_print_grouped(after->flips->count, flips);
	number_print_grouped(after->dynamics->count, all);
	snprintf(caption, sizeof(caption), "%s of %s labels flipped; each histogram has the area 1", flips, all);
	return chart_draw(&chart, picture, error);
}

static void
make_curves(const struct mixture *mixture, double from, double to, double *x, double *low, double *high)
{
	for (int i = 0; i < POINTS; i++) {
		x[i] = from + (to - from) * (i + 0.5) / POINTS;
		low[i] = mixture_density(mixture, &mixture->low, x[i]);
		high[i] = mixture_density(mixture, &mixture->high, x[i]);
	}
}

int
densities_draw_mixture(const char *run, const char *measure, const double *values, size_t n,
                       const struct mixture *mixture, const struct picture *picture, struct portolan_error *error)
{
	double from = mixture->kind == MIXTURE_BETA ? 0 : INFINITY, to = mixture->kind == MIXTURE_BETA ? 1 : -INFINITY;
	double x[POINTS], low[POINTS], high[POINTS], most = 0;
	struct histogram histogram;
	char caption[160], all[NUMBER_ROOM];
	struct chart chart = {.title = run, .caption = caption, .panel_count = 1};

	for (size_t i = 0; mixture->kind == MIXTURE_GAUSSIAN && i < n; i++) {
		from = fmin(from, values[i]);
		to = fmax(to, values[i]);
	}
	begin(&histogram, from, to);
	for (size_t i = 0; i < n; i++)
		count(&histogram, from, to, values[i]);
	finish(&histogram, from, to);
	make_curves(mixture, from, to, x, low, high);
	for (int b = 0; b < BINS; b++) /* a curve may tend to infinity at the edges */
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
	number_print_grouped(n, all);
	snprintf(caption, sizeof(caption), "%s examples; a mixture of two %s distributions, the low one %.1f%%", all,
	         mixture->kind == MIXTURE_BETA ? "beta" : "normal", 100 * mixture->low.share);
	return chart_draw(&chart, picture, error);
}
