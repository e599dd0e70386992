/* artifacts.c: the command `portolan artifacts`: ranks the tokens of labelled texts by how strongly each gives the
 * label away, and prints the ranking as a table. Here are its options, its table, and the order of its work. */
#include "artifacts.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "options/format.h"

#include <stdlib.h>
#include <string.h>

#define TOP_MAX 1000000
#define TOP_WITH_RUN 10

/* The table: its columns, and the values of those that neither the ranking nor the counts hold. */
struct artifacts_table {
	struct table_column *columns;
	size_t count;
	uint32_t *tokens, *places;     /* by row: the token, and the place of its leading label in the counts' order */
	double *chances;               /* by row: ranking_chance() */
	struct token_answers *answers; /* by run, then by row */
};

static void
artifacts_table_free(struct artifacts_table *table)
{
	free(table->columns);
	free(table->tokens);
	free(table->places);
	free(table->chances);
	free(table->answers);
}

/* Adds a column for each label, by its name: in how many records of that label a token stands. */
static void
artifacts_add_labels(struct artifacts_table *table, const struct token_counts *counts)
{
	size_t length;

	for (size_t l = 0; l < counts->label_count; l++)
		table->columns[table->count++] = (struct table_column){
		        counts_label(counts, l, &length), TABLE_U32, .values = counts->counts + l,
		        .stride = counts->label_count * sizeof(uint32_t), .through = table->tokens};
}

static void
artifacts_make_table(struct artifacts *artifacts, struct artifacts_table *table)
{
	const struct token_counts *counts = &artifacts->counts;
	const struct ranking *ranking = &artifacts->ranking;
	const struct table_column first[] = {
	        {"token", TABLE_NAME, offsetof(struct ranked_token, token), .of = &counts->tokens},
	        {"n", TABLE_U64, offsetof(struct ranked_token, statistic.n)},
	        {"label", TABLE_NAME, .values = counts->order, .of = &counts->labels},
	        {"p_star", TABLE_F64, offsetof(struct ranked_token, statistic.p_star)},
	        {"z_star", TABLE_F64, offsetof(struct ranked_token, statistic.z_star)}};
	size_t rows = artifacts->rows, most = 5 + counts->label_count + ARTIFACTS_SIDES_COLUMNS + 2;

	*table = (struct artifacts_table){.columns = memory_new(most, sizeof(*table->columns)), .count = 5};
	table->tokens = memory_new(rows, sizeof(*table->tokens));
	table->places = memory_new(rows, sizeof(*table->places));
	table->chances = memory_new(rows, sizeof(*table->chances));
	table->answers = memory_new(ARTIFACTS_RUNS * rows, sizeof(*table->answers));
	for (size_t i = 0; i < rows; i++) {
		table->tokens[i] = ranking->list[i].token;
		table->places[i] = ranking->list[i].statistic.label;
		table->chances[i] = ranking_chance(ranking, &ranking->list[i].statistic);
	}
	memcpy(table->columns, first, sizeof(first));
	table->columns[2].through = table->places;
	artifacts_add_labels(table, counts);
	if (artifacts->run)
		artifacts_sides_columns(artifacts, table->columns, &table->count, table->answers);
	if (!ranking->priors)
		return;
	table->columns[table->count++] =
	        (struct table_column){artifacts->corpus_options.ranking.uniform ? "prior_uniform" : "prior_share",
	                              TABLE_F64, .values = ranking->priors, .through = table->places};
	table->columns[table->count++] = (struct table_column){"p_bonferroni", TABLE_F64, .values = table->chances};
}

static void
artifacts_write_table(struct artifacts *artifacts)
{
	CLEANUP(artifacts_table_free) struct artifacts_table parts = {0};
	struct table table = {.rows = artifacts->rows,
	                      .structs = artifacts->ranking.list,
	                      .struct_size = sizeof(artifacts->ranking.list[0]),
	                      .excerpt = artifacts->corpus_options.top == 0 ? "tokens" : NULL};

	artifacts_make_table(artifacts, &parts);
	table.columns = parts.columns;
	table.column_count = parts.count;
	must(table_write(&table, artifacts->corpus_options.common.output, (enum table_format)artifacts->format,
	                 &failure));
}

/* How many of the ranking's tokens become rows of the table. */
static size_t
artifacts_count_rows(const struct artifacts *artifacts)
{
	uint64_t top = artifacts->corpus_options.top, all = artifacts->ranking.count;

	if (top == 0)
		top = artifacts->run ? TOP_WITH_RUN : all;
	return (size_t)(top < all ? top : all);
}

/* Ranks the tokens of DATA, or reads the ranking of --statistics. */
static void
artifacts_rank(struct artifacts *artifacts)
{
	const struct corpus_options *options = &artifacts->corpus_options;

	if (artifacts->statistics)
		artifacts->missing =
		        ranking_read(artifacts->statistics, &artifacts->counts,
		                     options->top ? (size_t)options->top : TOP_WITH_RUN, &artifacts->ranking);
	else
		ranking_make(&artifacts->counts, &options->ranking, &artifacts->ranking);
	artifacts->rows = artifacts_count_rows(artifacts);
}

static int
artifacts_check(void *context, struct portolan_error *error)
{
	struct artifacts *artifacts = context;
	struct corpus_options *options = &artifacts->corpus_options;
	const char *plot = artifacts->plot, *epochs = artifacts->plot_epochs;
	bool script = options->common.script;
	int status = corpus_options_check(options);

	if (status == 0)
		status = format_of_table(&options->common, "-o", options->common.output, TABLE_TSV, &artifacts->format);
	if (status == 0 && format_is_for_people(&options->common))
		artifacts->format = TABLE_ALIGNED;
	if (status == 0)
		status = format_of_table(&options->common, "--by-epoch", artifacts->by_epoch, TABLE_CSV,
		                         &artifacts->by_epoch_format);
	if (status == 0)
		status = format_of_table(&options->common, "--summary", artifacts->summary, TABLE_TSV,
		                         &artifacts->summary_format);
	if (status == 0)
		status = format_of_table(&options->common, "--errors", artifacts->errors, TABLE_TSV,
		                         &artifacts->errors_format);
	if (status == 0)
		status = format_of_table(&options->common, "--max-ppmi", artifacts->max_ppmi, TABLE_TSV,
		                         &artifacts->max_ppmi_format);
	if (status != 0)
		return status;

	if (plot && picture_init(&artifacts->picture, PICTURE_CHART, "--plot", plot, script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (epochs &&
	    picture_init(&artifacts->epochs_picture, PICTURE_CHART, "--plot-epochs", epochs, script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (artifacts->run && options->top > HOLDERS_TOKENS_MAX)
		return options_wrong(&options->common, "--count %llu: with --run at most %d",
		                     (unsigned long long)options->top, HOLDERS_TOKENS_MAX);
	return 0;
}

/* Writes the outputs that only --run has, after the table. Returns an exit status. */
static int
artifacts_finish_run(const struct artifacts *artifacts)
{
	if (artifacts->plot_epochs)
		artifacts_draw_epochs(artifacts);
	if (artifacts->by_epoch)
		artifacts_write_by_epoch(artifacts);
	if (artifacts->summary)
		artifacts_write_summary(artifacts);
	if (artifacts->errors)
		artifacts_write_errors(artifacts);
	return artifacts_sides_report(artifacts);
}

static int
artifacts_run(void *context, struct portolan_error *error)
{
	struct artifacts *artifacts = context;
	const struct corpus_options *options = &artifacts->corpus_options;
	int status = STATUS_DONE, of_data;

	(void)error;
	if (artifacts->plot)
		must(picture_check(&artifacts->picture, &failure));
	if (artifacts->plot_epochs)
		must(picture_check(&artifacts->epochs_picture, &failure));
	corpus_open(&artifacts->corpus, &options->request);
	counts_make(&artifacts->corpus, NULL, NULL, &artifacts->counts);
	artifacts_rank(artifacts);
	if (artifacts->run)
		artifacts_sides_make(artifacts);
	if (artifacts->plot)
		artifacts_draw(artifacts);
	if (artifacts->max_ppmi)
		artifacts_write_max_ppmi(artifacts);
	artifacts_write_table(artifacts);
	if (artifacts->run)
		status = artifacts_finish_run(artifacts);
	of_data = corpus_options_report(options, &artifacts->counts, &artifacts->ranking);
	if (artifacts->missing > 0)
		message_warning("%s: tokens that stand in no record of %s, and are left out: %s", artifacts->statistics,
		                options->request.path, NUMBER_GROUPED(artifacts->missing));
	artifacts_sides_free(artifacts);
	ranking_free(&artifacts->ranking);
	counts_free(&artifacts->counts);
	corpus_close(&artifacts->corpus);
	return of_data == STATUS_DONE ? status : of_data;
}

#define TO(member) .offset = offsetof(struct artifacts, member)
static const struct option_spec options[] = {
        {"count", "K", OPTION_WHOLE, .old_names = "top", TO(corpus_options.top), .least = 1, .most = TOP_MAX,
         .group = OPTION_GROUP_OUTPUT, .often = true},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true},
        {"max-ppmi", "FILE", OPTION_OUTPUT, TO(max_ppmi)},
        {"run", "RUN", OPTION_RUN, TO(run), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(corpus_options.request.id), .needs = "run"},
        {"glue", NULL, OPTION_FLAG, TO(corpus_options.request.glue), .needs = "run", .group = OPTION_GROUP_HOW},
        {"statistics", "FILE", OPTION_INPUT, TO(statistics), .needs = "run",
         .excludes = "min-count max-count prior tokens max-ppmi"},
        {"summary", "FILE", OPTION_OUTPUT, TO(summary), .needs = "run"},
        {"after", "RUN", OPTION_RUN, TO(after), .needs = "run"},
        {"errors", "FILE", OPTION_OUTPUT, TO(errors), .needs = "run"},
        {"by-epoch", "FILE", OPTION_OUTPUT, TO(by_epoch), .needs = "run"},
        {"plot-epochs", "FILE", OPTION_OUTPUT, TO(plot_epochs), .needs = "run"},
        {0},
};

static const struct artifacts defaults = {.corpus_options = {CORPUS_OPTIONS_DEFAULT}};

extern const struct help help_artifacts;

const struct command artifacts_command = {
        .name = "artifacts",
        .operands = "DATA",
        .help = &help_artifacts,
        .common = COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STORE | COMMON_THREADS | COMMON_STRICT | COMMON_SCRIPT,
        .options = options,
        .base = corpus_option_table,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct artifacts),
        .takes_texts = true,
        .defaults = &defaults,
        .check = artifacts_check,
        .run = artifacts_run,
};
