/*
 * ranking_chart.c: draws the picture of `artifacts --plot`. Each token is a point: across, the records that hold it;
 * up, in one panel the share of its leading label (p*), in the other how far that share lies above the expected one, in
 * standard deviations (z*).
 *
 * Of very many tokens the first are drawn, and a sample of the others: more points show nothing more.
 */
#include "ranking.h"

#include "base/number.h"
#include "die/die.h"
#include "statistics/random.h"

#include <math.h>
#include <stdlib.h>

#define FIRST 1000   /* tokens that are always drawn */
#define POINTS 20000 /* tokens that are drawn at most */
#define LINE_POINTS 64

struct points {
	uint32_t *chosen; /* places in the ranking */
	size_t count;
	double *n, *p, *z;
	size_t finds; /* the number of significant points, which come first */
	/* The lines of significance: one for the rarest label and one for the commonest, or one line if all labels are
	 * equally common. */
	double line_n[LINE_POINTS], line_p[2][LINE_POINTS], line_z[2][LINE_POINTS];
	size_t lines;
	struct hint_lines hints;
	double n_min, n_max, z_min, z_max;
	struct chart_note notes[2][CHART_NOTES_MAX];
	char *texts[2][CHART_NOTES_MAX]; /* of the notes */
	size_t named;
};

static void
points_free(struct points *points)
{
	for (size_t i = 0; i < points->named; i++) {
		free(points->texts[0][i]);
		free(points->texts[1][i]);
	}
	free(points->chosen);
	free(points->n);
	free(points);
}

static void
points_choose(struct points *points, const struct ranking *ranking)
{
	size_t rest = ranking->count > FIRST ? ranking->count - FIRST : 0;
	struct random_state random;

	points->chosen = memory_new(ranking->count, sizeof(*points->chosen));
	points->n = memory_new(3 * ranking->count, sizeof(double));
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
}

/* Sets the points' places: significant ones from the front of the list, the others from the back. */
static void
points_fill(struct points *points, const struct ranking *ranking)
{
	size_t back = points->count;

	points->z_max = 1;
	points->n_min = points->n_max = ranking->count ? (double)ranking->list[0].statistic.n : 1;
	for (size_t i = 0; i < points->count; i++) {
		const struct token_statistic *statistic = &ranking->list[points->chosen[i]].statistic;
		size_t at = ranking_is_significant(ranking, statistic) ? points->finds++ : --back;

		points->n[at] = (double)statistic->n;
		points->p[at] = statistic->p_star;
		points->z[at] = statistic->z_star;
		points->n_min = fmin(points->n_min, points->n[at]);
		points->n_max = fmax(points->n_max, points->n[at]);
		points->z_max = fmax(points->z_max, points->z[at]);
		points->z_min = fmin(points->z_min, points->z[at]);
	}
	points->n_min /= 1.1;
	points->n_max *= 1.3;
}

/* Computes the lines of significance of the labels with the lowest and the highest prior. */
static void
points_find_lines(struct points *points, const struct ranking *ranking, size_t label_count)
{
	double priors[2] = {1, 0};

	for (size_t l = 0; l < label_count; l++) {
		priors[0] = fmin(priors[0], ranking->priors[l]);
		priors[1] = fmax(priors[1], ranking->priors[l]);
	}
	for (size_t i = 0; i < 2 * LINE_POINTS; i++) {
		size_t at = i % LINE_POINTS, end = i / LINE_POINTS;
		double n = points->n_min * pow(points->n_max / points->n_min, (double)at / (LINE_POINTS - 1));
		double p = binomial_line(n, priors[end], SIGNIFICANCE / ranking->tests) / n;
		double z = (p - priors[end]) / sqrt(priors[end] * (1 - priors[end]) / n);

		points->line_n[at] = n;
		points->line_p[end][at] = p;
		points->line_z[end][at] = z;
		points->z_max = fmax(points->z_max, z);
	}
	points->lines = priors[0] < priors[1] ? 2 : 1;
}

/* Names the first tokens that are more than chance, with the value and the label beside each name (Han Chen, Figure 1). */
static void
points_name_tokens(struct points *points, const struct token_counts *counts, const struct ranking *ranking,
                   size_t named)
{
	for (size_t at = 0; points->named < named && at < ranking->count && points->named < CHART_NOTES_MAX; at++) {
		const struct token_statistic *statistic = &ranking->list[at].statistic;
		size_t i = points->named, length;
		const char *name = names_text(&counts->tokens, ranking->list[at].token, &length);
		const char *label = counts_label(counts, statistic->label, &length);

		/* A token whose chance is not known (NaN) is named, too. */
		if (ranking_chance(ranking, statistic) > SIGNIFICANCE)
			continue;
		points->texts[0][i] = memory_text("%s (%.2f, %s)", name, statistic->p_star, label);
		points->texts[1][i] = memory_text("%s (%.1f, %s)", name, statistic->z_star, label);
		points->notes[0][i] = (struct chart_note){(double)statistic->n, statistic->p_star, points->texts[0][i]};
		points->notes[1][i] = (struct chart_note){(double)statistic->n, statistic->z_star, points->texts[1][i]};
		points->named++;
	}
}

void
ranking_add_hints(const struct ranking *ranking, size_t label_count, struct chart_panel *panel,
                  struct hint_lines *lines)
{
	bool even = true;
	size_t count = 0;

	for (size_t l = 1; l < label_count; l++)
		even = even && ranking->shares[l] == ranking->shares[0];
	for (; count < 2 * (even ? 1 : label_count); count++) {
		lines->n[count] = count % 2 ? panel->x_max : panel->x_min;
		lines->p[count] = ranking->priors[count / 2];
	}
	panel->series[panel->series_count++] = (struct chart_series){even ? "no hint: 1/labels" : "no hint: shares",
	                                                             lines->n,
	                                                             lines->p,
	                                                             count,
	                                                             even ? CHART_LINE : CHART_PAIRS,
	                                                             3};
}

static void
panel_add_series(struct chart_panel *panel, const char *name, const double *x, const double *y, size_t n,
                 enum chart_style style, unsigned colour)
{
	panel->series[panel->series_count++] = (struct chart_series){name, x, y, n, style, colour};
}

/* Makes the panel of p*, or of z*. */
static void
panel_fill(struct chart_panel *panel, bool z, struct points *points, const struct ranking *ranking, size_t label_count)
{
	static const char *const names[] = {"0.01 after Bonferroni: rarest label",
	                                    "0.01 after Bonferroni: commonest label"};
	const double *y = z ? points->z : points->p;

	*panel = (struct chart_panel){.x_label = "records that hold the token (n)",
	                              .title = z ? "deviation from the expected share" : "share of the leading label",
	                              .y_label = z ? "z* (standard deviations)" : "p*",
	                              .x_min = points->n_min,
	                              .x_max = points->n_max,
	                              .y_min = z ? points->z_min : 0,
	                              .y_max = z ? 1.05 * points->z_max : 1,
	                              .x_log = true,
	                              .notes = points->notes[z],
	                              .note_count = points->named};
	panel_add_series(panel, "a token", points->n + points->finds, y + points->finds, points->count - points->finds,
	                 CHART_DOTS, 0);
	panel_add_series(panel, "more than chance", points->n, y, points->finds, CHART_DOTS, 1);
	if (!z && points->lines)
		ranking_add_hints(ranking, label_count, panel, &points->hints);
	for (size_t i = 0; i < points->lines; i++)
		panel_add_series(panel, points->lines == 2 ? names[i] : "0.01 after Bonferroni", points->line_n,
		                 z ? points->line_z[i] : points->line_p[i], LINE_POINTS, CHART_LINE, i ? 4 : 2);
}

static void
points_draw(struct points *points, const char *title, const struct token_counts *counts, const struct ranking *ranking,
            const struct chart_panel *below, const struct picture *picture)
{
	char caption[CHART_CAPTION_ROOM];
	struct chart chart = {.title = title, .caption = caption, .panel_count = 2};

	for (int i = 0; i < 2; i++)
		panel_fill(&chart.panels[i], i, points, ranking, counts->label_count);
	if (below && below->series_count > 0)
		chart.panels[chart.panel_count++] = *below;
	snprintf(caption, sizeof(caption), "%s %s of %s records, %zu labels%s%s", NUMBER_GROUPED(ranking->count),
	         ranking->count == 1 ? "token" : "tokens", NUMBER_GROUPED(counts->records - counts->ignored),
	         counts->label_count,
	         !ranking->priors   ? ""
	         : ranking->uniform ? "; prior: uniform, 1/labels"
	                            : "; prior: each label's share",
	         points->count < ranking->count ? "; beyond the first 1,000 a sample" : "");
	chart_draw(&chart, picture);
}

void
ranking_chart(const char *title, const struct token_counts *counts, const struct ranking *ranking, size_t named,
              const struct chart_panel *below, const struct picture *picture)
{
	struct points *points = memory_new(1, sizeof(*points));

	points_choose(points, ranking);
	points_fill(points, ranking);
	if (ranking->priors)
		points_find_lines(points, ranking, counts->label_count);
	points_name_tokens(points, counts, ranking, named);
	points_draw(points, title, counts, ranking, below, picture);
	points_free(points);
}
