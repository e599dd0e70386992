/* forgetting.c: counts examples by how often they were forgotten, and draws the counts. */
#include "forgetting.h"

#include "base/number.h"
#include "die/memory.h"
#include "plot/chart.h"

void
forgetting_count(const double *events, const double *never_learned, const uint32_t *order, size_t n,
                 struct forgetting *result)
{
	double most = 0;

	*result = (struct forgetting){.examples = n};
	for (size_t i = 0; i < n; i++)
		most = events[order[i]] > most ? events[order[i]] : most;
	result->bins = (size_t)most + 1;
	result->histogram = memory_new(result->bins, sizeof(*result->histogram));
	for (size_t i = 0; i < n; i++) {
		size_t count = (size_t)events[order[i]];

		result->histogram[count]++;
		result->events += count;
		result->forgotten += count > 0;
		result->never_learned += never_learned[order[i]] > 0;
	}
}

void
forgetting_free(struct forgetting *result)
{
	free(result->histogram);
	*result = (struct forgetting){0};
}

int
forgetting_chart(const char *run, const struct forgetting *forgetting, const struct picture *picture,
                 struct portolan_error *error)
{
	size_t n = forgetting->bins > 1 ? forgetting->bins - 1 : 1;
	CLEANUP_FREE double *x = memory_new(2 * n, sizeof(*x));
	double *y = x + n, most = 0;
	char caption[240];
	struct chart chart = {
	        .title = run,
	        .caption = caption,
	        .panel_count = 1,
	        .panels[0] = {.x_label = "forgetting events",
	                      .y_label = "examples forgotten so often",
	                      .x_min = 0.5,
	                      .x_max = (double)n + 0.5,
	                      .x_whole = true,
	                      .y_whole = true,
	                      .series = {{"forgotten", x, y, n, CHART_BARS, 0}},
	                      .series_count = 1},
	};

	for (size_t k = 1; k <= n; k++) {
		x[k - 1] = (double)k;
		y[k - 1] = k < forgetting->bins ? (double)forgetting->histogram[k] : 0;
		most = y[k - 1] > most ? y[k - 1] : most;
	}
	chart.panels[0].y_max = most > 0 ? 1.05 * most : 1;
	snprintf(caption, sizeof(caption),
	         "of %s examples %s never forgotten (%s of these never learned), %s forgotten",
	         NUMBER_GROUPED(forgetting->examples), NUMBER_GROUPED(forgetting->histogram[0]),
	         NUMBER_GROUPED(forgetting->never_learned), NUMBER_GROUPED(forgetting->forgotten));
	(void)error;
	chart_draw(&chart, picture);
	return 0;
}
