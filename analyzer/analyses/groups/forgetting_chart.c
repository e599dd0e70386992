/* forgetting_chart.c: draws bars from one event on: most examples are never forgotten, and their bar would leave no
 * height for the others. */
#include "forgetting.h"

#include "base/number.h"
#include "plot/chart.h"

#include <portolan/error.h>

#include <stdlib.h>

int
forgetting_chart(const char *run, const struct forgetting *forgetting, const struct picture *picture,
                 struct portolan_error *error)
{
	size_t n = forgetting->bins > 1 ? forgetting->bins - 1 : 1;
	double *x = calloc(2 * n, sizeof(*x)), *y = x + n;
	char caption[240], examples[NUMBER_ROOM], forgotten[NUMBER_ROOM], never[NUMBER_ROOM], none[NUMBER_ROOM];
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
	                      .series_count = 1},
	};
	int code;

	if (!x)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	for (size_t k = 1; k <= n; k++) {
		x[k - 1] = (double)k;
		y[k - 1] = k < forgetting->bins ? (double)forgetting->histogram[k] : 0;
		chart.panels[0].y_max = y[k - 1] > chart.panels[0].y_max ? y[k - 1] : chart.panels[0].y_max;
	}
	chart.panels[0].y_max = chart.panels[0].y_max > 0 ? 1.05 * chart.panels[0].y_max : 1;
	chart.panels[0].series[0] = (struct chart_series){"forgotten", x, y, n, CHART_BARS, 0};
	number_print_grouped(forgetting->examples, examples);
	number_print_grouped(forgetting->forgotten, forgotten);
	number_print_grouped(forgetting->never_learned, never);
	number_print_grouped(forgetting->bins > 0 ? forgetting->histogram[0] : 0, none);
	snprintf(caption, sizeof(caption),
	         "of %s examples %s never forgotten (%s of these never learned), %s forgotten", examples, none, never,
	         forgotten);
	code = chart_draw(&chart, picture, error);
	free(x);
	return code;
}
