/* upsample_chart.c: the imbalance by iteration; p* of all tokens before and after, those that were balanced told apart.
 */
#include "upsample.h"

#include "plot/chart.h"
#include "program/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define POINTS 10000 /* of other tokens: more show nothing more */

struct dots {
	double n[POINTS], p[POINTS];
	size_t count;
};
_Static_assert(HOLDERS_TOKENS_MAX <= POINTS, "there is room for all balanced tokens");

struct curves {
	double *steps, *imbalance; /* tried + 1 */
	double imbalance_max;
	struct dots others[2], balanced[2]; /* before, after */
	double n_min, n_max;
};

static void
widen(struct curves *curves, double n)
{
	curves->n_min = fmin(curves->n_min, n);
	curves->n_max = fmax(curves->n_max, n);
}

/* The other tokens, evenly over the ranking where they are too many. */
static void
add_others(struct curves *curves, int after, const struct ranked_token *list, size_t count)
{
	size_t step = count / POINTS + 1;

	for (size_t i = 0; i < count && curves->others[after].count < POINTS; i += step) {
		size_t at = curves->others[after].count++;

		curves->others[after].n[at] = (double)list[i].statistic.n;
		curves->others[after].p[at] = list[i].statistic.p_star;
		widen(curves, curves->others[after].n[at]);
	}
}

static void
fill(struct curves *curves, const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;

	for (size_t i = 0; i <= balance->tried; i++) {
		curves->steps[i] = (double)i;
		curves->imbalance[i] = (double)balance->imbalance[i];
		curves->imbalance_max = fmax(curves->imbalance_max, curves->imbalance[i]);
	}
	curves->n_min = HUGE_VAL;
	for (int after = 0; after < 2; after++)
		for (size_t s = 0; s < upsample->token_count; s++) {
			struct token_statistic statistic = upsample_statistic(upsample, s, after);

			curves->balanced[after].n[s] = (double)statistic.n;
			curves->balanced[after].p[s] = statistic.p_star;
			curves->balanced[after].count++;
			widen(curves, (double)statistic.n);
		}
}

/* Counts all tokens once more, each record as often as it stands now. */
static int
add_after(struct curves *curves, const struct upsample *upsample, struct portolan_error *error)
{
	uint32_t *weights = malloc((upsample->counts.records + 1) * sizeof(*weights));
	struct token_counts counts = {0};
	struct ranking ranking = {0};
	size_t kept = 0;
	int code = weights ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");

	for (uint64_t i = 0; weights && i < upsample->counts.records; i++)
		weights[i] = 1;
	for (size_t i = 0; weights && i < upsample->holders.count; i++)
		weights[upsample->holders.list[i].record] += upsample->balance.repeats[i];
	if (code >= 0)
		code = counts_make(&upsample->corpus, weights, upsample->counts.firsts, &counts, error);
	if (code >= 0)
		code = ranking_make(&counts, &upsample->corpus_options.ranking, &ranking, error);
	for (size_t i = 0; i < ranking.count; i++) {
		size_t length, s = 0;
		const char *text = names_text(&counts.tokens, ranking.list[i].token, &length);
		uint32_t before = names_find(&upsample->counts.tokens, text, length);

		while (s < upsample->token_count && upsample->ranking.list[s].token != before)
			s++;
		if (s == upsample->token_count)
			ranking.list[kept++] = ranking.list[i];
	}
	add_others(curves, 1, ranking.list, kept);
	ranking_free(&ranking);
	counts_free(&counts);
	free(weights);
	return code;
}

/* gnuplot knows no block of data without any. */
static void
add_series(struct chart_panel *panel, const char *name, const struct dots *dots, unsigned colour)
{
	if (dots->count > 0)
		panel->series[panel->series_count++] =
		        (struct chart_series){name, dots->n, dots->p, dots->count, CHART_DOTS, colour};
}

/* What was taken back goes on from what was kept. */
static void
add_imbalance(struct chart_panel *panel, const struct balance *balance, const struct curves *curves)
{
	size_t kept = balance->iterations, taken_back = balance->tried - kept;

	if (taken_back)
		panel->series[panel->series_count++] = (struct chart_series){
		        "taken back", curves->steps + kept, curves->imbalance + kept, taken_back + 1, CHART_POINTS, 4};
	panel->series[panel->series_count++] = (struct chart_series){
	        "all balanced tokens", curves->steps, curves->imbalance, kept + 1, CHART_POINTS, 0};
}

static int
draw(const struct curves *curves, const struct upsample *upsample, struct portolan_error *error)
{
	const struct balance *balance = &upsample->balance;
	char caption[200];
	struct chart chart = {
	        .title = upsample->corpus.file.path,
	        .caption = caption,
	        .panel_count = 2,
	        .panels[0] = {.x_label = "iteration",
	                      .title = "imbalance",
	                      .y_label = "sum of D",
	                      .x_max = balance->tried ? balance->tried : 1,
	                      .y_max = curves->imbalance_max ? 1.3 * curves->imbalance_max : 1}, /* room for the key */
	        .panels[1] = {.x_label = "records that hold the token (n)",
	                      .title = "share of the leading label",
	                      .y_label = "p*",
	                      .x_min = curves->n_min / 1.1,
	                      .x_max = curves->n_max * 1.1,
	                      .y_max = 1.45, /* room for the key */
	                      .x_log = true},
	};

	add_imbalance(&chart.panels[0], balance, curves);
	for (unsigned after = 0; after < 2; after++)
		add_series(&chart.panels[1], after ? "other tokens after" : "other tokens before",
		           &curves->others[after], after ? 2 : 4);
	for (unsigned after = 0; after < 2; after++)
		add_series(&chart.panels[1], after ? "balanced tokens after" : "balanced tokens before",
		           &curves->balanced[after], after ? 0 : 1);
	snprintf(caption, sizeof(caption), "%s records and %s repeats (%.1f%%), %zu tokens balanced",
	         NUMBER_GROUPED(upsample->counts.records), NUMBER_GROUPED(balance->added),
	         100 * (double)balance->added / (double)upsample->counts.records, upsample->token_count);
	return chart_draw(&chart, &upsample->picture, error);
}

int
upsample_draw(const struct upsample *upsample, struct portolan_error *error)
{
	size_t others = upsample->ranking.count - upsample->token_count, steps = (size_t)upsample->balance.tried + 1;
	struct curves *curves;
	int code;

	if (upsample->token_count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s: there are no tokens to draw: see --min-count",
		                 upsample->corpus.file.path);
	curves = calloc(1, sizeof(*curves) + 2 * steps * sizeof(double));
	if (!curves)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	curves->steps = (double *)(curves + 1);
	curves->imbalance = curves->steps + steps;
	fill(curves, upsample);
	add_others(curves, 0, upsample->ranking.list + upsample->token_count, others);
	code = add_after(curves, upsample, error);
	if (code >= 0)
		code = draw(curves, upsample, error);
	free(curves);
	return code;
}
