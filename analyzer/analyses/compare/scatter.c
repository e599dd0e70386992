/*
 * scatter.c: draws two runs' measures against each other (scatter.h).
 *
 * Both axes of a panel have the same range, so that equal values lie on the diagonal. The band is an outline: along its
 * lower edge to the right, and along its upper edge back.
 */
#include "scatter.h"

#include "base/number.h"
#include "die/memory.h"
#include "pairs.h"
#include "plot/chart.h"
#include "statistics/proportion.h"
#include "statistics/random.h"
#include "statistics/regression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PANELS 2
#define MANY 2000   /* more dots than this hide one another */
#define STEPS 64    /* along an edge of the band */
#define MARGIN 0.03 /* of the range of the values, beyond them */

struct scatter {
	const char *measure;
	double *x, *y; /* the values of both runs, to be released with array_free() */
	size_t n, drawn;
	double line_x[2], line_y[2];
	double band_x[2 * STEPS], band_y[2 * STEPS];
	char title[120];
};

static void
scatter_free(struct scatter *scatter)
{
	array_free(scatter->x);
	array_free(scatter->y);
}

/* The least and the most of n values; 0 and 1: there is none. */
static void
scatter_extent(const double *values, size_t n, double *least, double *most)
{
	*least = n ? values[0] : 0;
	*most = n ? values[0] : 1;
	for (size_t i = 1; i < n; i++) {
		*least = fmin(*least, values[i]);
		*most = fmax(*most, values[i]);
	}
}

/* Fits the line, and puts the outline of its band about it; NaN where there is none. */
static void
scatter_fit(struct scatter *scatter)
{
	struct regression fit = regression_of(scatter->x, scatter->y, scatter->n);
	double t = scatter->n > 2 ? student_deviations(PAIR_LEVEL, (double)(scatter->n - 2)) : NAN;

	scatter_extent(scatter->x, scatter->n, &scatter->line_x[0], &scatter->line_x[1]);
	for (size_t i = 0; i < 2; i++)
		scatter->line_y[i] = regression_line(&fit, scatter->line_x[i]);
	for (size_t i = 0; i < STEPS; i++) {
		double part = (double)i / (STEPS - 1);
		double x = scatter->line_x[0] + part * (scatter->line_x[1] - scatter->line_x[0]);
		double y = regression_line(&fit, x), half = regression_half_band(&fit, x, t);

		scatter->band_x[i] = scatter->band_x[2 * STEPS - 1 - i] = x;
		scatter->band_y[i] = y - half;
		scatter->band_y[2 * STEPS - 1 - i] = y + half;
	}
}

static void
scatter_write_title(struct scatter *scatter)
{
	double r = correlation_pearson(scatter->x, scatter->y, scatter->n);
	struct correlation_interval interval = correlation_interval(r, scatter->n, proportion_deviations(PAIR_LEVEL));

	if (scatter->n < 2)
		snprintf(scatter->title, sizeof(scatter->title), "%s: fewer than two examples", scatter->measure);
	else if (isnan(r))
		snprintf(scatter->title, sizeof(scatter->title), "%s: no correlation, as it is constant in a run",
		         scatter->measure);
	else
		snprintf(scatter->title, sizeof(scatter->title), "%s: r = %.3f, %g%% interval %.3f to %.3f",
		         scatter->measure, r, 100 * PAIR_LEVEL, interval.low, interval.high);
}

/* Leaves at the front of x and y a random sample of the pairs, if there are more than are to be drawn. */
static void
scatter_keep_sample(struct scatter *scatter, uint64_t most, uint64_t seed)
{
	CLEANUP_ARRAY uint32_t *places = NULL;
	CLEANUP_ARRAY double *kept = NULL;
	struct random_state random;

	scatter->drawn = scatter->n;
	if (scatter->n <= most)
		return;
	scatter->drawn = most;
	places = memory_array(scatter->n, sizeof(*places), "examples to draw");
	kept = memory_array(2 * scatter->drawn, sizeof(*kept), "values to draw");
	for (size_t i = 0; i < scatter->n; i++)
		places[i] = (uint32_t)i;
	random_seed(&random, seed);
	random_sample(&random, places, scatter->n, scatter->drawn);
	for (size_t i = 0; i < scatter->drawn; i++) {
		kept[2 * i] = scatter->x[places[i]];
		kept[2 * i + 1] = scatter->y[places[i]];
	}
	for (size_t i = 0; i < scatter->drawn; i++) {
		scatter->x[i] = kept[2 * i];
		scatter->y[i] = kept[2 * i + 1];
	}
}

/* Makes the panel of a measure. Of its values, scatter_keep_sample() then leaves those to draw. */
static struct chart_panel
scatter_panel(struct scatter *scatter, const struct pair *pair, const char *measure)
{
	double least, most, low, high, margin;

	scatter->measure = measure;
	scatter->x = memory_array(pair->shared, sizeof(*scatter->x), "values to draw");
	scatter->y = memory_array(pair->shared, sizeof(*scatter->y), "values to draw");
	scatter->n = pair_values(pair, dynamics_column(pair->a, measure), dynamics_column(pair->b, measure), scatter->x,
	                         scatter->y);
	scatter_fit(scatter);
	scatter_write_title(scatter);
	scatter_extent(scatter->x, scatter->n, &least, &most);
	scatter_extent(scatter->y, scatter->n, &low, &high);
	low = fmin(low, least);
	high = fmax(high, most);
	margin = high > low ? MARGIN * (high - low) : 0.5;
	return (struct chart_panel){
	        .title = scatter->title,
	        .x_label = pair->a->info->name,
	        .y_label = pair->b->info->name,
	        .x_min = low - margin,
	        .x_max = high + margin,
	        .y_min = low - margin,
	        .y_max = high + margin,
	        .series = {{"examples", scatter->x, scatter->y, scatter->n, CHART_DOTS, 0},
	                   {"95% band", scatter->band_x, scatter->band_y, 2 * STEPS, CHART_AREA, 1},
	                   {"regression line", scatter->line_x, scatter->line_y, 2, CHART_LINE, 1}},
	        .series_count = 3,
	};
}

void
scatter_draw(const struct dynamics *a, const struct dynamics *b, uint64_t most, uint64_t seed,
             const struct picture *picture)
{
	const char *const measures[PANELS] = {
	        measure_infos[a->info->of_losses ? MEASURE_TASK_LOSS : MEASURE_CONFIDENCE].name,
	        measure_infos[MEASURE_VARIABILITY].name};
	struct scatter scatters[PANELS] = {{.n = 0}};
	CLEANUP(pair_free) struct pair pair;
	char caption[CHART_CAPTION_ROOM];
	struct chart chart = {.title = "Two runs, example by example", .caption = caption, .panel_count = PANELS};

	pair_init(&pair, a, b);
	for (size_t p = 0; p < PANELS; p++) {
		chart.panels[p] = scatter_panel(&scatters[p], &pair, measures[p]);
		scatter_keep_sample(&scatters[p], most, seed);
		chart.panels[p].series[0].n = scatters[p].drawn;
		if (scatters[p].drawn > MANY)
			chart.panels[p].series[0].style = CHART_HAZE;
	}
	if (scatters[0].drawn < scatters[0].n)
		snprintf(caption, sizeof(caption),
		         "%s of %s examples shown, sampled; r, line and band are of all of them",
		         NUMBER_GROUPED(scatters[0].drawn), NUMBER_GROUPED(scatters[0].n));
	else
		snprintf(caption, sizeof(caption), "%s examples that both runs have", NUMBER_GROUPED(scatters[0].n));
	chart_draw(&chart, picture);
	for (size_t p = 0; p < PANELS; p++)
		scatter_free(&scatters[p]);
}
