/*
 * upsample_chart.c: draws the picture of `upsample --plot`. One panel has the imbalance by iteration: how many records
 * all tokens together still lack. Two have p* and z* (token_statistics.h) of all tokens before and after (Han Chen,
 * Figure 3): the tokens that were to be balanced have a colour, and a line from before to after.
 */
#include "upsample.h"

#include "base/number.h"
#include "die/die.h"
#include "plot/chart.h"

#include <math.h>
#include <stdlib.h>

#define POINTS 10000 /* the most tokens beside the chosen ones: more would not make the picture clearer */

struct dots {
	double n[POINTS], p[POINTS], z[POINTS]; /* of each token: the number of records that hold it, p* and z* */
	size_t count;
};
_Static_assert(2 * HOLDERS_TOKENS_MAX <= POINTS, "there is room for all chosen tokens, before and after");

struct curves {
	double *steps, *imbalance; /* tried + 1 values */
	double imbalance_max;
	struct dots others[2], chosen[2]; /* [0]: before, [1]: after */
	struct dots moves;                /* for each chosen token two points: before and after */
	double n_min, n_max, z_min, z_max;
	struct hint_lines hints;
	char names[2][48]; /* of the chosen tokens, before and after */
};

static void
curves_add_dot(struct curves *curves, struct dots *dots, const struct token_statistic *statistic)
{
	double n = (double)statistic->n;

	dots->n[dots->count] = n;
	dots->p[dots->count] = statistic->p_star;
	dots->z[dots->count++] = statistic->z_star;
	curves->n_min = fmin(curves->n_min, n);
	curves->n_max = fmax(curves->n_max, n);
	curves->z_min = fmin(curves->z_min, statistic->z_star);
	curves->z_max = fmax(curves->z_max, statistic->z_star);
}

/* Adds the tokens that were not chosen; if there are too many, some of them, evenly over the ranking. */
static void
curves_add_others(struct curves *curves, int after, const struct ranked_token *list, size_t count)
{
	size_t step = count / POINTS + 1;

	for (size_t i = 0; i < count && curves->others[after].count < POINTS; i += step)
		curves_add_dot(curves, &curves->others[after], &list[i].statistic);
}

static void
curves_fill(struct curves *curves, const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;

	for (size_t i = 0; i <= balance->tried; i++) {
		curves->steps[i] = (double)i;
		curves->imbalance[i] = (double)balance->imbalance[i];
		curves->imbalance_max = fmax(curves->imbalance_max, curves->imbalance[i]);
	}
	curves->n_min = HUGE_VAL;
	for (int after = 0; after < 2; after++)
		snprintf(curves->names[after], sizeof(curves->names[after]), "%s token%s %s",
		         NUMBER_GROUPED(upsample->token_count), upsample->token_count == 1 ? "" : "s",
		         after ? "after" : "before");
	for (size_t s = 0; s < upsample->token_count; s++)
		for (int after = 0; after < 2; after++) {
			struct token_statistic statistic = upsample_statistic(upsample, s, after);

			curves_add_dot(curves, &curves->chosen[after], &statistic);
			curves_add_dot(curves, &curves->moves, &statistic);
		}
}

/* Adds the tokens that were not chosen, as they are after up-sampling: counts all tokens once more, each record as
 * often as it stands in the result. */
static void
curves_add_after(struct curves *curves, const struct upsample *upsample)
{
	struct ranking_request request = upsample->corpus_options.ranking;
	CLEANUP_ARRAY uint32_t *weights = memory_array(upsample->counts.records, sizeof(*weights), "weights");
	struct token_counts counts;
	struct ranking ranking;
	size_t kept = 0;

	request.shares = upsample->ranking.shares; /* the shares of DATA, not those after up-sampling */
	for (uint64_t i = 0; i < upsample->counts.records; i++)
		weights[i] = 1;
	for (size_t i = 0; i < upsample->holders.count; i++)
		weights[upsample->holders.list[i].record] += upsample->balance.repeats[i];
	counts_make(&upsample->corpus, weights, upsample->counts.firsts, &counts);
	ranking_make(&counts, &request, &ranking);
	for (size_t i = 0; i < ranking.count; i++) {
		size_t length, s = 0;
		const char *text = names_text(&counts.tokens, ranking.list[i].token, &length);
		uint32_t before = names_find(&upsample->counts.tokens, text, length);

		while (s < upsample->token_count && upsample->ranking.list[s].token != before)
			s++;
		if (s == upsample->token_count)
			ranking.list[kept++] = ranking.list[i];
	}
	curves_add_others(curves, 1, ranking.list, kept);
	ranking_free(&ranking);
	counts_free(&counts);
}

static void
curves_add_series(struct chart_panel *panel, const char *name, const struct dots *dots, bool z, enum chart_style style,
                  unsigned colour)
{
	panel->series[panel->series_count++] =
	        (struct chart_series){name, dots->n, z ? dots->z : dots->p, dots->count, style, colour};
}

/* Adds p*, or z*, of all tokens to the panel. */
static void
curves_add_tokens(struct chart_panel *panel, const struct curves *curves, bool z)
{
	curves_add_series(panel, "others before", &curves->others[0], z, CHART_DOTS, 4);
	curves_add_series(panel, "others after", &curves->others[1], z, CHART_DOTS, 2);
	curves_add_series(panel, "the same token", &curves->moves, z, CHART_PAIRS, 4);
	curves_add_series(panel, curves->names[0], &curves->chosen[0], z, CHART_DOTS, 1);
	curves_add_series(panel, curves->names[1], &curves->chosen[1], z, CHART_DOTS, 0);
}

/* Counts the balanced tokens: those for which no label lacks a record. */
static size_t
upsample_count_balanced(const struct upsample *upsample)
{
	size_t labels = upsample->counts.label_count, count = 0;

	for (size_t s = 0; s < upsample->token_count; s++) {
		size_t l = 0;

		while (l < labels && upsample->balance.reasons[s * labels + l] == BALANCE_DONE)
			l++;
		count += l == labels;
	}
	return count;
}

/* Adds the curve of the imbalance to the panel. Iterations that were taken back continue it from the last that was
 * kept. */
static void
curves_add_imbalance(struct chart_panel *panel, const struct balance *balance, const struct curves *curves)
{
	size_t kept = balance->iterations, taken_back = balance->tried - kept;

	if (taken_back)
		panel->series[panel->series_count++] = (struct chart_series){
		        "taken back", curves->steps + kept, curves->imbalance + kept, taken_back + 1, CHART_POINTS, 4};
	panel->series[panel->series_count++] =
	        (struct chart_series){"kept", curves->steps, curves->imbalance, kept + 1, CHART_POINTS, 0};
}

static void
curves_draw(struct curves *curves, const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	char caption[200];
	struct chart chart = {
	        .title = upsample->corpus.file.path,
	        .caption = caption,
	        .panel_count = 3,
	        .panels[0] = {.x_label = "iteration",
	                      .x_whole = true,
	                      .y_whole = true,
	                      .title = "imbalance",
	                      .y_label = "records lacking",
	                      .x_max = balance->tried ? balance->tried : 1,
	                      .y_max = curves->imbalance_max ? 1.05 * curves->imbalance_max : 1},
	        .panels[1] = {.x_label = "records that hold the token (n)",
	                      .title = "share of the leading label",
	                      .y_label = "p*",
	                      .x_min = curves->n_min / 1.1,
	                      .x_max = curves->n_max * 1.1,
	                      .y_max = 1,
	                      .x_log = true},
	        .panels[2] = {.x_label = "records that hold the token (n)",
	                      .title = "deviation from the expected share",
	                      .y_label = "z* (standard deviations)",
	                      .x_min = curves->n_min / 1.1,
	                      .x_max = curves->n_max * 1.1,
	                      .y_min = curves->z_min,
	                      .y_max = curves->z_max > 0 ? 1.05 * curves->z_max : 1,
	                      .x_log = true},
	};

	curves_add_imbalance(&chart.panels[0], balance, curves);
	curves_add_tokens(&chart.panels[1], curves, false);
	ranking_add_hints(&upsample->ranking, upsample->counts.label_count, &chart.panels[1], &curves->hints);
	curves_add_tokens(&chart.panels[2], curves, true);
	snprintf(caption, sizeof(caption), "%s records and %s repeats (%.1f%%); %zu of %zu %s balanced; prior %s",
	         NUMBER_GROUPED(upsample->counts.records), NUMBER_GROUPED(balance->added),
	         100 * (double)balance->added / (double)upsample->counts.records, upsample_count_balanced(upsample),
	         upsample->token_count, upsample->token_count == 1 ? "token" : "tokens",
	         ranking_prior_names[upsample->ranking.uniform]);
	chart_draw(&chart, &upsample->picture);
}

void
upsample_draw(const struct upsample *upsample)
{
	size_t others = upsample->ranking.count - upsample->token_count, steps = (size_t)upsample->balance.tried + 1;
	CLEANUP_FREE struct curves *curves = memory_new(1, sizeof(*curves) + 2 * steps * sizeof(double));

	if (upsample->token_count == 0)
		die("%s: %s", upsample->corpus.file.path,
		    upsample->ranking.count > 0 ? UPSAMPLE_NONE ": there is nothing to draw"
		                                : "there are no tokens to draw: see --min-count");
	curves->steps = (double *)(curves + 1);
	curves->imbalance = curves->steps + steps;
	curves_fill(curves, upsample);
	curves_add_others(curves, 0, upsample->ranking.list + upsample->token_count, others);
	curves_add_after(curves, upsample);
	curves_draw(curves, upsample);
}
