/* artifacts_outputs.c: writes what `portolan artifacts` writes beside its table: the picture of --plot, and, with
 * --run, the files of --by-epoch, --plot-epochs, --summary and --errors. */
#include "artifacts.h"

#include "base/message.h"
#include "die/die.h"
#include "plot/chart.h"

#include <math.h>
#include <stdlib.h>

#define NAMED 20      /* tokens whose names stand in the picture */
#define BARS 20       /* tokens whose accuracies the picture shows */
#define BAR_SHIFT 0.2 /* of the distance between names: bars stand this far above and below their name */

/* The panel of --plot that compares, for the first tokens, the accuracy at the last epoch on the records with the token's
 * leading label and on the others (Han Chen, Figures 2 and 4). */
struct sides_bars {
	double accuracy[SIDES][BARS], places[SIDES][BARS];
	const char *names[BARS];
	char title[300];
	size_t count;
};

static void
sides_bars_make(struct sides_bars *bars, const struct artifacts *artifacts)
{
	const struct sides *sides = &artifacts->sides;
	size_t last = sides->epoch_count - 1;

	snprintf(bars->title, sizeof(bars->title), "accuracy of %s, epoch %u", artifacts->dynamics.info->name,
	         (unsigned)artifacts->dynamics.epochs[last]);
	for (; bars->count < sides->token_count && bars->count < BARS; bars->count++) {
		size_t i = bars->count, length;

		bars->names[i] = names_text(&artifacts->counts.tokens, artifacts->ranking.list[i].token, &length);
		for (int side = 0; side < SIDES; side++) {
			bars->accuracy[side][i] = answers_accuracy(sides->tokens[i][side].epochs[last]);
			bars->places[side][i] = (side == SIDE_MAJORITY ? BAR_SHIFT : -BAR_SHIFT) - (double)i;
		}
	}
}

/* Has the side any bar? gnuplot knows no series without a point. */
static bool
sides_bars_has(const struct sides_bars *bars, int side)
{
	bool has = false;

	for (size_t i = 0; i < bars->count; i++)
		has = has || isfinite(bars->accuracy[side][i]);
	return has;
}

/* Makes the panel of the accuracies. It points into `bars`. */
static struct chart_panel
sides_bars_panel(const struct sides_bars *bars)
{
	static const char *const keys[SIDES] = {"with its leading label", "with another label"};
	struct chart_panel panel = {.title = bars->title,
	                            .x_label = "accuracy on records that hold the token",
	                            .y_label = "",
	                            .x_max = 1,
	                            .y_names = bars->names,
	                            .y_name_count = bars->count};

	for (int side = 0; side < SIDES; side++)
		if (sides_bars_has(bars, side))
			panel.series[panel.series_count++] =
			        (struct chart_series){keys[side],  bars->accuracy[side], bars->places[side],
			                              bars->count, CHART_ACROSS,         (unsigned)side};
	return panel;
}

void
artifacts_draw(const struct artifacts *artifacts)
{
	uint64_t top = artifacts->corpus_options.top;
	struct sides_bars bars = {.count = 0};
	struct chart_panel panel;

	if (artifacts->ranking.count == 0)
		die("%s: there are no tokens to draw: see --min-count", artifacts->corpus.file.path);
	if (artifacts->run)
		sides_bars_make(&bars, artifacts);
	panel = sides_bars_panel(&bars);
	ranking_chart(artifacts->corpus.file.path, &artifacts->counts, &artifacts->ranking,
	              top && top < NAMED ? (size_t)top : NAMED, artifacts->run ? &panel : NULL, &artifacts->picture);
}

/* One row of --by-epoch: the accuracy on both sides of a token at an epoch. */
struct by_epoch_line {
	uint32_t token, label; /* numbers in the counts' names */
	uint32_t epoch;
	uint64_t n[SIDES];
	double accuracy[SIDES];
};

void
artifacts_write_by_epoch(const struct artifacts *artifacts)
{
	const struct token_counts *counts = &artifacts->counts;
	const struct table_column columns[] = {
	        {"token", TABLE_NAME, offsetof(struct by_epoch_line, token), .of = &counts->tokens},
	        {"label", TABLE_NAME, offsetof(struct by_epoch_line, label), .of = &counts->labels},
	        {"epoch", TABLE_U32, offsetof(struct by_epoch_line, epoch)},
	        {"majority_n", TABLE_U64, offsetof(struct by_epoch_line, n[SIDE_MAJORITY])},
	        {"majority_accuracy", TABLE_F64, offsetof(struct by_epoch_line, accuracy[SIDE_MAJORITY])},
	        {"minority_n", TABLE_U64, offsetof(struct by_epoch_line, n[SIDE_MINORITY])},
	        {"minority_accuracy", TABLE_F64, offsetof(struct by_epoch_line, accuracy[SIDE_MINORITY])}};
	size_t epochs = artifacts->sides.epoch_count, count = artifacts->rows * epochs;
	CLEANUP_FREE struct by_epoch_line *lines = memory_new(count, sizeof(*lines));

	for (size_t i = 0; i < count; i++) {
		const struct ranked_token *row = &artifacts->ranking.list[i / epochs];
		const struct side *sides = artifacts->sides.tokens[i / epochs];
		size_t e = i % epochs;

		lines[i] = (struct by_epoch_line){.token = row->token,
		                                  .label = counts->order[row->statistic.label],
		                                  .epoch = artifacts->dynamics.epochs[e]};
		for (int side = 0; side < SIDES; side++) {
			lines[i].n[side] = sides[side].epochs[e].seen;
			lines[i].accuracy[side] = answers_accuracy(sides[side].epochs[e]);
		}
	}
	must(table_write(&TABLE_OF(columns, lines, count), artifacts->by_epoch,
	                 (enum table_format)artifacts->by_epoch_format, &failure));
}

/* The mean accuracy on one side at an epoch, over the tokens that have one. */
static double
sides_mean_accuracy(const struct sides *sides, int side, size_t epoch)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < sides->token_count; i++) {
		double accuracy = answers_accuracy(sides->tokens[i][side].epochs[epoch]);

		sum += isnan(accuracy) ? 0 : accuracy;
		count += !isnan(accuracy);
	}
	return count ? sum / (double)count : NAN;
}

void
artifacts_draw_epochs(const struct artifacts *artifacts)
{
	size_t epochs = artifacts->sides.epoch_count;
	CLEANUP_FREE double *x = memory_new(3 * epochs, sizeof(*x));
	char caption[120];
	struct chart chart = {.title = artifacts->run,
	                      .caption = caption,
	                      .panel_count = 1,
	                      .panels[0] = {.x_label = "epoch",
	                                    .x_whole = true,
	                                    .y_label = "accuracy, mean of the tokens",
	                                    .y_max = 1.02,
	                                    .series_count = SIDES}};

	for (size_t e = 0; e < epochs; e++) {
		x[e] = artifacts->dynamics.epochs[e];
		x[epochs + e] = sides_mean_accuracy(&artifacts->sides, SIDE_MAJORITY, e);
		x[2 * epochs + e] = sides_mean_accuracy(&artifacts->sides, SIDE_MINORITY, e);
	}
	chart.panels[0].series[0] =
	        (struct chart_series){"the token's leading label", x, x + epochs, epochs, CHART_POINTS, 0};
	chart.panels[0].series[1] = (struct chart_series){"another label", x, x + 2 * epochs, epochs, CHART_POINTS, 1};
	snprintf(caption, sizeof(caption), "records that hold one of the %zu tokens, by their label", artifacts->rows);
	chart_draw(&chart, &artifacts->epochs_picture);
}

enum part { PART_OVERALL, PART_TOUCHED, PART_REST, PART_MAJORITY, PART_MINORITY, PARTS };
static const char *const part_names[PARTS] = {"overall", "touched", "rest", "majority", "minority"};

/* Adds up the answers of the last epoch, for each part of the records that --summary compares. */
static void
summary_take_parts(const struct sides *sides, struct answers parts[PARTS])
{
	size_t last = sides->epoch_count - 1;

	parts[PART_OVERALL] = sides->overall.epochs[last];
	parts[PART_TOUCHED] = sides->touched.epochs[last];
	parts[PART_REST].seen = parts[PART_OVERALL].seen - parts[PART_TOUCHED].seen;
	parts[PART_REST].correct = parts[PART_OVERALL].correct - parts[PART_TOUCHED].correct;
	for (int side = 0; side < SIDES; side++) {
		struct answers *sum = &parts[side == SIDE_MAJORITY ? PART_MAJORITY : PART_MINORITY];

		*sum = (struct answers){0};
		for (size_t t = 0; t < sides->token_count; t++) {
			sum->seen += sides->tokens[t][side].epochs[last].seen;
			sum->correct += sides->tokens[t][side].epochs[last].correct;
		}
	}
}

/* Writes the run's accuracy on the whole, where the tokens stand and where none does, and on both sides of them; beside it
 * that of the run of --after (Han Chen, Table 1). */
void
artifacts_write_summary(const struct artifacts *artifacts)
{
	struct answers before[PARTS], after[PARTS] = {{0}};
	double share[PARTS], share_after[PARTS];
	const struct table_column columns[] = {
	        {"part", TABLE_TEXT, .values = part_names},
	        {"n", TABLE_U64, .values = &before[0].seen, .stride = sizeof(before[0])},
	        {"accuracy", TABLE_F64, .values = share},
	        {"after_n", TABLE_U64, .values = &after[0].seen, .stride = sizeof(after[0])},
	        {"after_accuracy", TABLE_F64, .values = share_after}};
	struct table table = TABLE_OF_ARRAYS(columns, PARTS);

	summary_take_parts(&artifacts->sides, before);
	if (artifacts->after)
		summary_take_parts(&artifacts->after_sides, after);
	else
		table.column_count = 3;
	for (int part = 0; part < PARTS; part++) {
		share[part] = answers_accuracy(before[part]);
		share_after[part] = answers_accuracy(after[part]);
	}
	must(table_write(&table, artifacts->summary, (enum table_format)artifacts->summary_format, &failure));
}

/* Writes the errors of the run on records that hold a token, as the user may read them. */
void
artifacts_write_errors(const struct artifacts *artifacts)
{
	const struct token_counts *counts = &artifacts->counts;
	const struct token_errors *errors = &artifacts->error_list;
	const struct table_column columns[] = {
	        {"id", TABLE_ID_AT, offsetof(struct token_error, example), .of = &artifacts->dynamics.ids},
	        {"token", TABLE_NAME, offsetof(struct token_error, token), .of = &counts->tokens},
	        {"token_label", TABLE_NAME, .values = counts->order, .of = &counts->labels, .through = errors->leading},
	        {"z_star", TABLE_F64, offsetof(struct token_error, z_star)},
	        {"label", TABLE_NAME, .values = counts->order, .of = &counts->labels, .through = errors->labels},
	        {"predicted", TABLE_I32, offsetof(struct token_error, predicted), .is_name = true},
	        {"predicted_label", TABLE_LABEL, offsetof(struct token_error, predicted),
	         .of = artifacts->dynamics.snapshot}};

	must(table_write(&TABLE_OF(columns, errors->list, errors->count), artifacts->errors,
	                 (enum table_format)artifacts->errors_format, &failure));
}

void
artifacts_write_max_ppmi(const struct artifacts *artifacts)
{
	static const char *const names[PPMI_PREDICTORS] = {"majority", "max_ppmi"};
	struct ppmi_guesses guesses[PPMI_PREDICTORS];
	const struct table_column columns[] = {
	        {"predictor", TABLE_TEXT, .values = names},
	        {"records", TABLE_U64, offsetof(struct ppmi_guesses, records)},
	        {"right", TABLE_U64, offsetof(struct ppmi_guesses, right)},
	        {"accuracy", TABLE_F64, offsetof(struct ppmi_guesses, accuracy)},
	        {"held_out_right", TABLE_U64, offsetof(struct ppmi_guesses, held_out)},
	        {"held_out_accuracy", TABLE_F64, offsetof(struct ppmi_guesses, held_out_accuracy)}};
	struct table table = TABLE_OF(columns, guesses, PPMI_PREDICTORS);

	ppmi_guess(&artifacts->corpus, &artifacts->counts, &artifacts->ranking, guesses);
	must(table_write(&table, artifacts->max_ppmi, (enum table_format)artifacts->max_ppmi_format, &failure));
	message_note(
	        "artifacts: the label guessed by the token that is most bound to one: %.3f are right, held out %.3f; "
	        "by majority %.3f",
	        guesses[PPMI_TOKEN].accuracy, guesses[PPMI_TOKEN].held_out_accuracy, guesses[PPMI_MAJORITY].accuracy);
}
