/* ranking_chart.c: see ranking.h. Of very many tokens the first are drawn, and a sample of the others: more
 * points show nothing more. */
#include "ranking.h"

#include "program/number.h"
#include "statistics/random.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.01
#define FIRST 1000 /* always drawn */
#define POINTS 20000
#define LINE_POINTS 64
#define BEYOND "above: more than chance (0.01, Bonferroni)"

struct points {
	uint32_t *chosen; /* places in the ranking */
	size_t count;
	double *n, *p, *z;
	double line_n[LINE_POINTS], line_p[LINE_POINTS], line_z[LINE_POINTS], even_p[LINE_POINTS];
	double n_min, n_max, z_min, z_max, significant;
	struct chart_note notes[2][CHART_NOTES_MAX];
	char *texts[CHART_NOTES_MAX];
	size_t named;
};

static bool
choose(struct points *points, const struct ranking *ranking)
{
	size_t rest = ranking->count > FIRST ? ranking->count - FIRST : 0;
	struct random_state random;

	points->chosen = malloc((ranking->count + 1) * sizeof(*points->chosen));
	points->n = malloc(3 * (ranking->count + 1) * sizeof(double));
	if (!points->chosen || !points->n)
		return false;
	points->p = points->n + ranking->count;
	points->z = points->p + ranking->count;
	points->count = ranking->count;
	for (uint32_t i = 0; i < ranking->count; i++)
		points->chosen[i] = i;
	if (ranking->count > POINTS) {
		random_seed(&random, 0);
		random_sample(&random, points->chosen + FIRST, rest, POINTS - FIRST);
		points->count = POINTS;
	}
	return true;
}

static void
fill(struct points *points, const struct token_counts *counts, const struct ranking *ranking)
{
	double tests = (double)ranking->count * (double)counts->label_count, prior = ranking->priors[0];

	points->n_min = points->n_max = ranking->count ? (double)ranking->list[0].statistic.n : 1;
	points->significant = bonferroni_z(LEVEL, tests);
	points->z_max = points->significant;
	for (size_t i = 0; i < points->count; i++) {
		const struct token_statistic *statistic = &ranking->list[points->chosen[i]].statistic;

		points->n[i] = (double)statistic->n;
		points->p[i] = statistic->p_star;
		points->z[i] = statistic->z_star;
		points->n_min = fmin(points->n_min, points->n[i]);
		points->n_max = fmax(points->n_max, points->n[i]);
		points->z_max = fmax(points->z_max, points->z[i]);
		points->z_min = fmin(points->z_min, points->z[i]);
	}
	points->n_min /= 1.1;
	points->n_max *= 1.3;
	for (size_t i = 0; i < LINE_POINTS; i++) {
		double n = points->n_min * pow(points->n_max / points->n_min, (double)i / (LINE_POINTS - 1));
		double p = prior + points->significant * sqrt(prior * (1 - prior) / n);

		points->line_n[i] = n;
		points->line_p[i] = p <= 1 ? p : NAN;
		points->line_z[i] = points->significant;
		points->even_p[i] = 1 / (double)counts->label_count;
	}
}

static bool
name(struct points *points, const struct token_counts *counts, const struct ranking *ranking, size_t named)
{
	for (; points->named < named && points->named < ranking->count && points->named < CHART_NOTES_MAX;
	     points->named++) {
		const struct ranked_token *row = &ranking->list[points->named];
		size_t i = points->named, length;
		const char *text = names_text(&counts->tokens, row->token, &length);

		if (row->statistic.z_star < points->significant)
			break;
		points->texts[i] = strndup(text, length);
		if (!points->texts[i])
			return false;
		points->notes[0][i] =
		        (struct chart_note){(double)row->statistic.n, row->statistic.p_star, points->texts[i]};
		points->notes[1][i] =
		        (struct chart_note){(double)row->statistic.n, row->statistic.z_star, points->texts[i]};
	}
	return true;
}

static void
add_line(struct chart_panel *panel, const char *name, const struct points *points, const double *y, unsigned colour)
{
	panel->series[panel->series_count++] =
	        (struct chart_series){name, points->line_n, y, LINE_POINTS, CHART_LINE, colour};
}

static int
draw(const struct points *points, const char *title, const struct token_counts *counts, const struct ranking *ranking,
     const struct chart_panel *below, const struct picture *picture, struct portolan_error *error)
{
	char caption[200], tokens[NUMBER_ROOM], records[NUMBER_ROOM];
	bool one_prior = true;
	struct chart chart = {.title = title, .caption = caption, .panel_count = 2};

	for (size_t l = 1; l < counts->label_count; l++)
		one_prior = one_prior && ranking->priors[l] == ranking->priors[0];
	for (int i = 0; i < 2; i++)
		chart.panels[i] = (struct chart_panel){
		        .x_label = "records that hold the token (n)",
		        .title = i == 0 ? "share of the leading label" : "deviation from the expected share",
		        .y_label = i == 0 ? "p*" : "z* (standard deviations)",
		        .x_min = points->n_min,
		        .x_max = points->n_max,
		        .y_min = i == 0 ? 0 : points->z_min,
		        .y_max = i == 0 ? 1 : 1.05 * points->z_max,
		        .x_log = true,
		        .notes = points->notes[i],
		        .note_count = points->named,
		        .series_count = 1,
		        .series = {{"a token", points->n, i == 0 ? points->p : points->z, points->count, CHART_DOTS, 0}}};
	if (one_prior)
		add_line(&chart.panels[0], BEYOND, points, points->line_p, 1);
	add_line(&chart.panels[0], "no hint: 1/labels", points, points->even_p, 3);
	add_line(&chart.panels[1], BEYOND, points, points->line_z, 1);
	if (below && below->series_count > 0)
		chart.panels[chart.panel_count++] = *below;
	number_print_grouped(ranking->count, tokens);
	number_print_grouped(counts->records - counts->ignored, records);
	snprintf(caption, sizeof(caption), "%s %s of %s records, %zu labels%s", tokens, ranking->count == 1 ? "token" : "tokens", records,
	         counts->label_count, points->count < ranking->count ? "; beyond the first 1,000 a sample" : "");
	return chart_draw(&chart, picture, error);
}

int
ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
              const struct chart_panel *below, const struct picture *picture, struct portolan_error *error)
{
	struct points *points = calloc(1, sizeof(*points));
	int code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");

	if (points && choose(points, ranking)) {
		fill(points, counts, ranking);
		if (name(points, counts, ranking, named))
			code = draw(points, title, counts, ranking, below, picture, error);
	}
	for (size_t i = 0; points && i < points->named; i++)
		free(points->texts[i]);
	if (points) {
		free(points->chosen);
		free(points->n);
	}
	free(points);
	return code;
}
