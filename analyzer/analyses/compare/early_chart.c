/* early_chart.c: the correlations after each epoch as two curves; from 0 up, unless one is below. */
#include "early_stopping.h"

#include "plot/chart.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

size_t
early_settled(const struct early_epoch *rows, size_t n)
{
	size_t first = n;

	while (first > 0 && rows[first - 1].confidence_pearson >= EARLY_LIKE &&
	       rows[first - 1].variability_pearson >= EARLY_LIKE)
		first--;
	return first;
}

int
early_chart(const char *run, const struct early_epoch *rows, size_t n, const struct picture *picture,
            struct portolan_error *error)
{
	double *x = malloc(3 * n * sizeof(*x)), *confidence = x + n, *variability = x + 2 * n;
	size_t settled = early_settled(rows, n);
	char caption[160];
	struct chart chart = {
	        .title = run,
	        .caption = caption,
	        .panel_count = 1,
	        .panels[0] = {.x_label = "after epoch",
	                      .x_whole = true,
	                      .y_label = "correlation (Pearson)",
	                      .y_max = 1.02,
	                      .series_count = 2},
	};
	int code;

	if (!x)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	for (size_t e = 0; e < n; e++) {
		x[e] = rows[e].epoch;
		confidence[e] = rows[e].confidence_pearson;
		variability[e] = rows[e].variability_pearson;
		if (fmin(confidence[e], variability[e]) < chart.panels[0].y_min)
			chart.panels[0].y_min = -1;
	}
	chart.panels[0].series[0] = (struct chart_series){"confidence", x, confidence, n, CHART_POINTS, 0};
	chart.panels[0].series[1] = (struct chart_series){"variability", x, variability, n, CHART_POINTS, 1};
	if (n == 1)
		snprintf(caption, sizeof(caption), "one epoch: there is nothing to compare it with");
	else if (settled < n)
		snprintf(caption, sizeof(caption),
		         "the measures so far against those of all %zu epochs: both %g or more from epoch %u on", n,
		         EARLY_LIKE, (unsigned)rows[settled].epoch);
	else
		snprintf(caption, sizeof(caption), "the measures so far against those of all %zu epochs", n);
	code = chart_draw(&chart, picture, error);
	free(x);
	return code;
}
