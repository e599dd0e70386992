/* artifacts_sides.c: portolan artifacts --run: how a model did where a token says the label, and where it does not. */
#include "artifacts.h"

#include "base/cleanup.h"
#include "base/message.h"
#include "base/number.h"
#include "die/memory.h"
#include "plot/chart.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SIDES] = {"majority", "minority"};
static const char *const side_columns[SIDES][2] = {{"majority_n", "majority_accuracy"},
                                                   {"minority_n", "minority_accuracy"}};

/* Does the table have means of this one? */
static bool
sides_is_shown(const struct dynamics *dynamics, size_t column)
{
	return dynamics->columns[column].measure != MEASURE_EPOCHS;
}

void
artifacts_sides_columns(struct artifacts *artifacts, struct table_column *columns, size_t *count, double *accuracies)
{
	const struct dynamics *dynamics = &artifacts->dynamics;
	const struct sides *sides = &artifacts->sides;
	size_t rows = sides->token_count;

	for (int side = 0; side < SIDES; side++) {
		for (size_t i = 0; i < rows; i++)
			accuracies[(size_t)side * rows + i] =
			        side_accuracy(&sides->tokens[i][side], sides->epoch_count - 1);
		columns[(*count)++] = (struct table_column){side_columns[side][0], TABLE_U64,
		                                            .values = rows > 0 ? &sides->tokens[0][side].n : NULL,
		                                            .stride = sizeof(sides->tokens[0])};
		columns[(*count)++] = (struct table_column){side_columns[side][1], TABLE_F64,
		                                            .values = accuracies + (size_t)side * rows};
	}
	for (size_t c = 0; c < dynamics->column_count; c++) {
		for (int side = 0; side < SIDES && sides_is_shown(dynamics, c); side++) {
			char *name = artifacts->side_names[c][side];

			snprintf(name, sizeof(artifacts->side_names[c][side]), "%s_%s", names[side],
			         dynamics->columns[c].name);
			columns[(*count)++] = (struct table_column){
			        name, TABLE_F64, .values = rows > 0 ? &sides->tokens[0][side].means[c] : NULL,
			        .stride = SIDES * dynamics->column_count *
			                  sizeof(double)}; /* of means, one after the other */
		}
	}
}

/* The accuracy of a token's sides at an epoch. */
struct by_epoch_line {
	struct table_bytes token, label;
	uint64_t epoch, n[SIDES];
	double accuracy[SIDES];
};

static int
sides_write_by_epoch(const struct artifacts *artifacts, struct portolan_error *error)
{
	static const struct table_column columns[] = {
	        {"token", TABLE_BYTES, offsetof(struct by_epoch_line, token)},
	        {"label", TABLE_BYTES, offsetof(struct by_epoch_line, label)},
	        {"epoch", TABLE_U64, offsetof(struct by_epoch_line, epoch)},
	        {"majority_n", TABLE_U64, offsetof(struct by_epoch_line, n[SIDE_MAJORITY])},
	        {"majority_accuracy", TABLE_F64, offsetof(struct by_epoch_line, accuracy[SIDE_MAJORITY])},
	        {"minority_n", TABLE_U64, offsetof(struct by_epoch_line, n[SIDE_MINORITY])},
	        {"minority_accuracy", TABLE_F64, offsetof(struct by_epoch_line, accuracy[SIDE_MINORITY])}};
	const struct token_counts *counts = &artifacts->counts;
	size_t epochs = artifacts->sides.epoch_count;
	CLEANUP_FREE struct by_epoch_line *lines = memory_new(artifacts->rows * epochs, sizeof(*lines));

	for (size_t i = 0; i < artifacts->rows * epochs; i++) {
		const struct ranked_token *row = &artifacts->ranking.list[i / epochs];
		const struct side *sides = artifacts->sides.tokens[i / epochs];
		struct by_epoch_line *line = &lines[i];
		size_t e = i % epochs;

		line->token.at = names_text(&counts->tokens, row->token, &line->token.length);
		line->label.at = counts_label(counts, row->statistic.label, &line->label.length);
		line->epoch = artifacts->dynamics.epochs[e];
		for (int side = 0; side < SIDES; side++) {
			line->n[side] = sides[side].seen[e];
			line->accuracy[side] = side_accuracy(&sides[side], e);
		}
	}
	return table_write(&TABLE_OF(columns, lines, artifacts->rows * epochs), artifacts->by_epoch,
	                   (enum table_format)artifacts->by_epoch_format, error);
}

/* The mean of the tokens' accuracies, of those that have one. */
static double
sides_mean_accuracy(const struct sides *sides, int side, size_t epoch)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < sides->token_count; i++) {
		double accuracy = side_accuracy(&sides->tokens[i][side], epoch);

		sum += isnan(accuracy) ? 0 : accuracy;
		count += !isnan(accuracy);
	}
	return count ? sum / (double)count : NAN;
}

static int
sides_draw_epochs(const struct artifacts *artifacts, struct portolan_error *error)
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
	return chart_draw(&chart, &artifacts->epochs_picture, error);
}

/* As glue.h says, of several records with one id the first counts: takes the others out. */
static int
sides_keep_first_records(struct artifacts *artifacts, const struct ids_index *index, size_t examples,
                         struct holders *holders, struct portolan_error *error)
{
	static const char *const option = "--id-field";
	const struct user_file *file = &artifacts->corpus.file;
	struct join_oddities *oddities = &artifacts->oddities;
	CLEANUP_ARRAY const char **firsts = memory_array(examples, sizeof(*firsts), "ids");
	struct fields_reader reader = {0};
	struct fields fields;
	size_t kept = 0;
	int code = fields_init(&fields, file, &artifacts->corpus.request.id, &option, 1, error);

	*oddities = (struct join_oddities){0};
	if (code >= 0)
		fields_begin(&reader, &fields, user_file_whole(file));
	while (code >= 0 && (code = fields_next(&reader, error)) > 0) {
		int64_t position = join_find(index, &reader, 0, oddities);

		if (position >= 0 && !firsts[position])
			firsts[position] = reader.part.record.at;
		else if (position >= 0 && oddities->again++ == 0)
			oddities->first_again = fields_line(&reader);
	}
	oddities->unlabelled = reader.part.unlabelled;
	fields_end(&reader);
	for (size_t i = 0; i < holders->count && code >= 0; i++) {
		const struct holder *holder = &holders->list[i];

		if (holder->example == UINT32_MAX || firsts[holder->example] == file->text + holder->at)
			holders->list[kept++] = *holder;
	}
	holders->count = kept;
	return code;
}

static int
sides_find_records(struct artifacts *artifacts, const struct dynamics *dynamics, struct sides *sides,
                   struct portolan_error *error)
{
	struct holders_request request = {.corpus = &artifacts->corpus,
	                                  .counts = &artifacts->counts,
	                                  .tokens = artifacts->ranking.list,
	                                  .token_count = artifacts->rows};
	struct holders holders;
	struct ids_index index;
	int code = ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, error);

	if (code < 0)
		return code;
	request.index = &index;
	code = holders_find(&request, &holders, error);
	if (code >= 0 && artifacts->corpus.request.glue)
		code = sides_keep_first_records(artifacts, &index, dynamics->count, &holders, error);
	ids_index_free(&index);
	if (code >= 0)
		code = sides_make(sides, &holders, artifacts->ranking.list, artifacts->rows, dynamics, error);
	if (code >= 0 && holders.count > 0 && sides->unmatched == holders.count)
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: no record that holds one of the tokens has the id of an example of run '%s' in its field '%s' (see --id-field)",
		        artifacts->corpus.file.path, dynamics->info->name, artifacts->corpus_options.request.id);
	holders_free(&holders);
	return code;
}

int
artifacts_sides_make(struct artifacts *artifacts, struct portolan_error *error)
{
	const struct dynamics_request request = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY) |
	                    MEASURE_BIT(MEASURE_CORRECTNESS) | MEASURE_BIT(MEASURE_FORGETTING_EVENTS) |
	                    MEASURE_BIT(MEASURE_AUM) | MEASURE_BIT(MEASURE_EL2N),
	        .gold = true};
	const struct dynamics_request after_request = {.measures = MEASURE_BIT(MEASURE_CORRECTNESS)};
	const struct common_options *common = &artifacts->corpus_options.common;
	int code = dynamics_load(&artifacts->dynamics, &common->query, artifacts->run, &request, error);

	if (code >= 0)
		code = sides_find_records(artifacts, &artifacts->dynamics, &artifacts->sides, error);
	if (code < 0 || !artifacts->after)
		return code;
	code = dynamics_load_beside(&artifacts->after_dynamics, &artifacts->dynamics, &common->query, artifacts->after,
	                            &after_request, error);
	return code < 0 ? code
	                : sides_find_records(artifacts, &artifacts->after_dynamics, &artifacts->after_sides, error);
}

/* What is said of a run: its gaps, and records that are none of its examples. */
static int
sides_report_run(const struct artifacts *artifacts, const struct dynamics *dynamics, const struct sides *sides)
{
	bool strict = artifacts->corpus_options.common.strict;
	int gaps = dynamics_report(dynamics, strict);

	if (sides->unmatched == 0)
		return gaps;
	message_warning("%s: records that hold one of the tokens, and are no examples of run '%s': %s",
	                artifacts->corpus.file.path, dynamics->info->name, NUMBER_GROUPED(sides->unmatched));
	return strict ? STATUS_INCOMPLETE : gaps;
}

int
artifacts_sides_finish(const struct artifacts *artifacts, struct portolan_error *error)
{
	int code = artifacts->plot_epochs ? sides_draw_epochs(artifacts, error) : 0, status;

	if (code >= 0 && artifacts->by_epoch)
		code = sides_write_by_epoch(artifacts, error);
	if (code >= 0 && artifacts->summary)
		code = artifacts_summary_write(artifacts, error);
	if (code < 0)
		return code;
	if (artifacts->corpus.request.glue)
		join_warn(&artifacts->oddities, artifacts->corpus.file.path, artifacts->corpus.request.id);
	status = sides_report_run(artifacts, &artifacts->dynamics, &artifacts->sides);
	code = artifacts->after ? sides_report_run(artifacts, &artifacts->after_dynamics, &artifacts->after_sides)
	                        : STATUS_DONE;
	return code == STATUS_DONE ? status : code;
}

void
artifacts_sides_free(struct artifacts *artifacts)
{
	if (!artifacts->run)
		return;
	sides_free(&artifacts->after_sides);
	sides_free(&artifacts->sides);
	if (artifacts->after)
		dynamics_free(&artifacts->after_dynamics);
	dynamics_free(&artifacts->dynamics);
}
