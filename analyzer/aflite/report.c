/* report.c: see report.h. Nothing here depends on time or on the number of threads: the files of two runs can be
 * compared. */
#include "report.h"

#include "output/table.h"
#include "output/text.h"
#include "plot/chart.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
write_plain(struct output *output, const char *text, size_t length)
{
	output_bytes(output, text, length);
}

static void
write_name(struct output *output, const struct report_names *names, uint32_t example, bool csv)
{
	if (names->dynamics)
		table_write_id(output, names->dynamics, names->examples[example], csv ? text_csv : write_plain);
	else
		text_integer(output, example);
}

void
report_ids(struct output *output, const struct report_names *names, const uint32_t *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		write_name(output, names, examples[i], false);
		output_bytes(output, "\n", 1);
	}
}

void
report_log(struct output *output, const struct filter *filter)
{
	output_text(output, "phase,examples,train_size,mean_p,accuracy,qualified,removed,lowest_p,tied,tied_removed,"
	                    "never_predicted,class_missing,not_converged,evaluations\n");
	for (size_t phase = 0; phase < filter->phases; phase++) {
		const struct filter_log *log = &filter->log[phase];

		text_integer(output, phase + 1);
		text_next_integer(output, log->left);
		text_next_integer(output, log->trained);
		text_next_number(output, log->mean_p);
		text_next_number(output, log->accuracy);
		text_next_integer(output, log->qualified);
		text_next_integer(output, log->removed);
		text_next_number(output, log->lowest);
		text_next_integer(output, log->tied);
		text_next_integer(output, log->tied_removed);
		text_next_integer(output, log->unpredicted);
		text_next_integer(output, log->lacking);
		text_next_integer(output, log->unfinished);
		text_next_integer(output, log->evaluations);
		output_bytes(output, "\n", 1);
	}
}

void
report_scores(struct output *output, const struct filter *filter, const struct report_names *names,
              const struct labels *labels)
{
	const struct filter_scores *scores = &filter->scores;

	output_text(output, names->dynamics ? "id" : "row");
	output_text(output, ",label,phase_removed,p,margin,predictions\n");
	for (uint32_t example = 0; example < filter->total; example++) {
		const char *label = labels->names[labels->values[example]];
		uint32_t made = scores->made[example];

		write_name(output, names, example, true);
		output_bytes(output, ",", 1);
		text_csv(output, label, strlen(label));
		output_bytes(output, ",", 1);
		if (scores->removed[example])
			text_integer(output, scores->removed[example]);
		text_next_number(output, made ? scores->correct[example] / (double)made : NAN);
		text_next_number(output, made ? scores->margins[example] : NAN);
		text_next_integer(output, made);
		output_bytes(output, "\n", 1);
	}
}

uint32_t *
report_kept(const struct filter *filter)
{
	uint32_t *kept = malloc((filter_left(filter) + 1) * sizeof(*kept));
	size_t count = 0;

	for (uint32_t example = 0; kept && example < filter->total; example++)
		if (!filter->scores.removed[example])
			kept[count++] = example;
	return kept;
}

uint32_t *
report_baseline(const struct filter *filter)
{
	uint32_t *drawn = malloc(filter->total * sizeof(*drawn));
	uint8_t *chosen = calloc(filter->total, 1);
	struct random_state random;
	size_t count = 0;

	if (!drawn || !chosen) {
		free(drawn);
		free(chosen);
		return NULL;
	}
	for (uint32_t example = 0; example < filter->total; example++)
		drawn[example] = example;
	random_seed(&random, filter->options.seed);
	random_sample(&random, drawn, filter->total, filter_left(filter));
	for (size_t i = 0; i < filter_left(filter); i++)
		chosen[drawn[i]] = 1;
	for (uint32_t example = 0; example < filter->total; example++)
		if (chosen[example])
			drawn[count++] = example;
	free(chosen);
	return drawn;
}

int
report_chart(const struct filter *filter, const struct picture *picture, struct portolan_error *error)
{
	size_t n = filter->phases;
	double *phase = malloc((4 * n + 1) * sizeof(*phase)), *left = phase + n, *p = left + n, *accuracy = p + n;
	char caption[160];
	struct chart chart = {
	        .title = "AFLite",
	        .caption = caption,
	        .panel_count = 2,
	        .panels = {{.x_label = "phase", .y_label = "examples left", .series_count = 1, .key_below = true},
	                   {.x_label = "phase",
	                    .y_label = "share that is right",
	                    .y_max = 1.02,
	                    .series_count = 2,
	                    .key_below = true}},
	};
	int code;

	if (!phase)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	for (size_t i = 0; i < n; i++) {
		phase[i] = (double)i + 1;
		left[i] = (double)filter->log[i].left;
		p[i] = filter->log[i].mean_p;
		accuracy[i] = filter->log[i].accuracy;
	}
	chart.panels[0].y_max = 1.05 * (double)filter->total;
	chart.panels[0].series[0] = (struct chart_series){"examples", phase, left, n, CHART_POINTS, 0};
	chart.panels[1].series[0] = (struct chart_series){"mean p of the examples", phase, p, n, CHART_POINTS, 0};
	chart.panels[1].series[1] = (struct chart_series){"held-out accuracy", phase, accuracy, n, CHART_POINTS, 1};
	snprintf(caption, sizeof(caption), "%zu of %zu examples kept; %zu classifiers a phase, of %zu examples each",
	         filter_left(filter), filter->total, filter->options.partitions, filter->options.train);
	code = chart_draw(&chart, picture, error);
	free(phase);
	return code;
}
