/* report.c: see report.h. Nothing here depends on time or on the number of threads: the files of two runs can be
 * compared. */
#include "report.h"

#include "base/number.h"
#include "files/lines.h"
#include "plot/chart.h"
#include "statistics/random.h"
#include "output/text.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

static void
write_lines(struct output *output, const struct join *join, const uint32_t *examples, size_t count)
{
	size_t at = 0;

	lines_head(output, join, NULL);
	for (size_t i = 0; i < join->count; i++) {
		const struct join_match *match = &join->matches[i];

		while (at < count && examples[at] < match->position)
			at++;
		if (at == count || examples[at] != match->position)
			continue;
		lines_record(output, join, &match->record);
		lines_end(output, &match->record);
	}
}

int
report_examples(const char *path, const struct report_names *names, const uint32_t *examples, size_t count,
                struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	if (names->join)
		write_lines(&output, names->join, examples, count);
	for (size_t i = 0; !names->join && i < count; i++) {
		text_id(&output, names->ids, names->examples[examples[i]]);
		output_bytes(&output, "\n", 1);
	}
	return output_finish(&output, error);
}

int
report_log(const char *path, enum rows_format format, const struct filter *filter, struct portolan_error *error)
{
	static const struct rows_column columns[] = {
	        {"phase", ROWS_WHOLE},         {"examples", ROWS_WHOLE},        {"train_size", ROWS_WHOLE},
	        {"mean_p", ROWS_REAL},         {"accuracy", ROWS_REAL},         {"qualified", ROWS_WHOLE},
	        {"removed", ROWS_WHOLE},       {"lowest_p", ROWS_REAL},         {"tied", ROWS_WHOLE},
	        {"tied_removed", ROWS_WHOLE},  {"never_predicted", ROWS_WHOLE}, {"class_missing", ROWS_WHOLE},
	        {"not_converged", ROWS_WHOLE}, {"evaluations", ROWS_WHOLE}};
	struct rows rows;
	int code = rows_open(&rows, path, format, columns, sizeof(columns) / sizeof(columns[0]), error);

	if (code < 0)
		return code;
	for (size_t phase = 0; phase < filter_lines(filter); phase++) {
		const struct filter_log *log = filter_line(filter, phase);

		rows_whole(&rows, phase + 1);
		rows_whole(&rows, log->left);
		rows_whole(&rows, log->trained);
		rows_real(&rows, log->mean_p);
		rows_real(&rows, log->accuracy);
		rows_whole(&rows, log->qualified);
		rows_whole(&rows, log->removed);
		rows_real(&rows, log->lowest);
		rows_whole(&rows, log->tied);
		rows_whole(&rows, log->tied_removed);
		rows_whole(&rows, log->unpredicted);
		rows_whole(&rows, log->lacking);
		rows_whole(&rows, log->unfinished);
		rows_whole(&rows, log->evaluations);
	}
	return rows_close(&rows, error);
}

int
report_scores(const char *path, enum rows_format format, const struct filter *filter, const struct report_names *names,
              const struct labels *labels, struct portolan_error *error)
{
	const struct rows_column columns[] = {rows_id_column(names->ids, names->column),
	                                      {"label", ROWS_TEXT},
	                                      {"phase_removed", ROWS_WHOLE},
	                                      {"p", ROWS_REAL},
	                                      {"margin", ROWS_REAL},
	                                      {"predictions", ROWS_WHOLE}};
	const struct filter_scores *scores = &filter->scores;
	struct rows rows;
	int code = rows_open(&rows, path, format, columns, sizeof(columns) / sizeof(columns[0]), error);

	if (code < 0)
		return code;
	for (uint32_t example = 0; example < filter->total; example++) {
		uint32_t made = scores->made[example];

		rows_id(&rows, names->ids, names->examples[example]);
		rows_text(&rows, labels->names[labels->values[example]]);
		if (scores->removed[example])
			rows_whole(&rows, scores->removed[example]);
		else
			rows_empty(&rows);
		rows_real(&rows, made ? scores->correct[example] / (double)made : NAN);
		rows_real(&rows, made ? scores->margins[example] : NAN);
		rows_whole(&rows, made);
	}
	return rows_close(&rows, error);
}

uint32_t *
report_kept(const struct filter *filter, bool removed)
{
	uint32_t *kept = malloc((filter->total + 1) * sizeof(*kept));
	size_t count = 0;

	for (uint32_t example = 0; kept && example < filter->total; example++)
		if ((filter->scores.removed[example] > 0) == removed)
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

/* How predictable each example was when it was last predicted, in bars; and the threshold. */
#define BARS 25
struct predictability {
	double p[BARS], removed[BARS], kept[BARS], threshold_p[2], threshold_examples[2];
};

static void
count_predictability(struct predictability *predictability, const struct filter *filter)
{
	const struct filter_scores *scores = &filter->scores;

	for (size_t b = 0; b < BARS; b++)
		predictability->p[b] = ((double)b + 0.5) / BARS;
	for (uint32_t example = 0; example < filter->total; example++) {
		uint32_t made = scores->made[example];
		size_t bar = made ? (size_t)(scores->correct[example] / (double)made * BARS) : 0;

		if (made)
			(scores->removed[example] ? predictability->removed
			                          : predictability->kept)[bar < BARS ? bar : BARS - 1]++;
	}
	for (size_t b = 0; b < BARS; b++)
		predictability->threshold_examples[1] =
		        fmax(predictability->threshold_examples[1],
		             1.05 * fmax(predictability->removed[b], predictability->kept[b]));
	predictability->threshold_p[0] = predictability->threshold_p[1] = filter->options.threshold;
}

static void
add_predictability(struct chart_panel *panel, const struct predictability *predictability)
{
	*panel = (struct chart_panel){
	        .x_label = "predictability p, when last predicted",
	        .x_max = 1,
	        .y_label = "examples",
	        .y_whole = true,
	        .y_max = fmax(1, predictability->threshold_examples[1]),
	        .series = {{"removed", predictability->p, predictability->removed, BARS, CHART_BARS, 1},
	                   {"kept", predictability->p, predictability->kept, BARS, CHART_BARS, 0},
	                   {"threshold", predictability->threshold_p, predictability->threshold_examples, 2, CHART_LINE,
	                    3}},
	        .series_count = 3,
	};
}

int
report_chart(const struct filter *filter, const struct picture *picture, struct portolan_error *error)
{
	size_t n = filter_lines(filter);
	double *phase = malloc((4 * n + 1) * sizeof(*phase)), *left = phase + n, *p = left + n, *accuracy = p + n;
	struct predictability predictability = {0};
	char caption[160];
	struct chart chart = {
	        .title = "AFLite",
	        .caption = caption,
	        .panel_count = 3,
	        .panels = {{.x_label = "phase",
	                    .x_whole = true,
	                    .y_whole = true,
	                    .y_label = "examples left",
	                    .series_count = 1},
	                   {.x_label = "phase",
	                    .x_whole = true,
	                    .y_label = "share that is right",
	                    .y_max = 1.02,
	                    .series_count = 2}},
	};
	int code;

	if (!phase)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	for (size_t i = 0; i < n; i++) {
		phase[i] = (double)i + 1;
		left[i] = (double)filter_line(filter, i)->left;
		p[i] = filter_line(filter, i)->mean_p;
		accuracy[i] = filter_line(filter, i)->accuracy;
	}
	count_predictability(&predictability, filter);
	chart.panels[0].y_max = 1.05 * (double)filter->total;
	chart.panels[0].series[0] = (struct chart_series){"examples", phase, left, n, CHART_POINTS, 0};
	chart.panels[1].series[0] = (struct chart_series){"mean p of the examples", phase, p, n, CHART_POINTS, 0};
	chart.panels[1].series[1] = (struct chart_series){"held-out accuracy", phase, accuracy, n, CHART_POINTS, 1};
	add_predictability(&chart.panels[2], &predictability);
	snprintf(caption, sizeof(caption), "%s of %s examples kept; %s classifiers a phase, of %s examples each",
	         NUMBER_GROUPED(filter_left(filter)), NUMBER_GROUPED(filter->total),
	         NUMBER_GROUPED(filter->options.partitions), NUMBER_GROUPED(filter->options.train));
	code = chart_draw(&chart, picture, error);
	free(phase);
	return code;
}
