/* artifacts.c: portolan artifacts: which tokens give the label away. */
#include "artifacts.h"

#include "base/message.h"
#include "base/number.h"
#include "options/format.h"
#include "options/glue_option.h"
#include "sides_chart.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define TOP_MAX 1000000
#define TOP_WITH_RUN 10
#define NAMED 20 /* tokens whose names stand in the chart */

static void
add_row(struct rows *rows, const struct artifacts *artifacts, size_t token)
{
	const struct token_counts *counts = &artifacts->counts;
	const struct ranked_token *row = &artifacts->ranking.list[token];
	const uint32_t *by_label = counts_of(counts, row->token);
	size_t length;
	const char *text = names_text(&counts->tokens, row->token, &length);

	rows_bytes(rows, text, length);
	rows_whole(rows, row->statistic.n);
	text = counts_label(counts, row->statistic.label, &length);
	rows_bytes(rows, text, length);
	rows_real(rows, row->statistic.p_star);
	rows_real(rows, row->statistic.z_star);
	for (size_t l = 0; l < counts->label_count; l++)
		rows_whole(rows, by_label[l]);
	if (artifacts->run)
		artifacts_sides_add(rows, artifacts, token);
	if (artifacts->ranking.priors) {
		rows_real(rows, artifacts->ranking.priors[row->statistic.label]);
		rows_real(rows, ranking_chance(&artifacts->ranking, &row->statistic));
	}
}

/* The caller's to free(); the labels' names are part of it. */
static struct rows_column *
make_columns(struct artifacts *artifacts, size_t *count)
{
	static const struct rows_column first[] = {{"token", ROWS_TEXT},
	                                           {"n", ROWS_WHOLE},
	                                           {"label", ROWS_TEXT},
	                                           {"p_star", ROWS_REAL},
	                                           {"z_star", ROWS_REAL}};
	const struct token_counts *counts = &artifacts->counts;
	size_t most = 5 + counts->label_count + ARTIFACTS_SIDES_COLUMNS + 2, room = 0, length;
	struct rows_column *columns;
	char *names;

	for (size_t l = 0; l < counts->label_count; l++) {
		counts_label(counts, l, &length);
		room += length + 1;
	}
	columns = malloc(most * sizeof(*columns) + room);
	if (!columns)
		return NULL;
	names = (char *)(columns + most);
	memcpy(columns, first, sizeof(first));
	*count = 5;
	for (size_t l = 0; l < counts->label_count; l++) {
		const char *label = counts_label(counts, l, &length);

		columns[(*count)++] = (struct rows_column){memcpy(names, label, length), ROWS_WHOLE};
		names[length] = '\0';
		names += length + 1;
	}
	if (artifacts->run)
		*count += artifacts_sides_columns(columns + *count, artifacts);
	if (artifacts->ranking.priors) {
		columns[(*count)++] = (struct rows_column){
		        artifacts->corpus_options.ranking.uniform ? "prior_uniform" : "prior_share", ROWS_REAL};
		columns[(*count)++] = (struct rows_column){"p_bonferroni", ROWS_REAL};
	}
	return columns;
}

static int
write_table(struct artifacts *artifacts, struct portolan_error *error)
{
	size_t count;
	struct rows_column *columns = make_columns(artifacts, &count);
	struct rows rows;
	int code = columns ? rows_open(&rows, artifacts->corpus_options.common.output,
	                               (enum rows_format)artifacts->format, columns, count, error)
	                   : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the table");

	if (code >= 0) {
		for (size_t i = 0; i < artifacts->rows; i++) {
			if (artifacts->format == ROWS_ALIGNED && artifacts->corpus_options.top == 0)
				i = rows_skip_middle(&rows, i, artifacts->rows);
			add_row(&rows, artifacts, i);
		}
		code = rows_close(&rows, error);
		if (code >= 0)
			rows_note_excerpt(&rows, artifacts->rows, "tokens");
	}
	free(columns);
	return code;
}

/* How many rows the table has at most, of those that there are. */
static size_t
count_rows(const struct artifacts *artifacts)
{
	uint64_t top = artifacts->corpus_options.top, all = artifacts->ranking.count;

	if (top == 0)
		top = artifacts->run ? TOP_WITH_RUN : all;
	return (size_t)(top < all ? top : all);
}

/* The ranking of DATA, or that of --statistics. */
static int
rank(struct artifacts *artifacts, struct portolan_error *error)
{
	const struct corpus_options *options = &artifacts->corpus_options;

	if (!artifacts->statistics)
		return ranking_make(&artifacts->counts, &options->ranking, &artifacts->ranking, error);
	return ranking_read(artifacts->statistics, &artifacts->counts,
	                    options->top ? (size_t)options->top : TOP_WITH_RUN, &artifacts->ranking,
	                    &artifacts->missing, error);
}

static int
draw(const struct artifacts *artifacts, struct portolan_error *error)
{
	uint64_t top = artifacts->corpus_options.top;
	struct sides_bars bars = {0};
	struct chart_panel panel;
	int code = 0;

	if (artifacts->ranking.count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s: there are no tokens to draw: see --min-count",
		                 artifacts->corpus.file.path);
	if (artifacts->run && !sides_bars_make(&bars, &artifacts->sides, &artifacts->counts, artifacts->ranking.list,
	                                       &artifacts->dynamics))
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the chart");
	panel = sides_bars_panel(&bars);
	if (code >= 0)
		code = ranking_chart(artifacts->corpus.file.path, &artifacts->counts, &artifacts->ranking,
		                     top && top < NAMED ? (size_t)top : NAMED, artifacts->run ? &panel : NULL,
		                     &artifacts->picture, error);
	sides_bars_free(&bars);
	return code;
}

static int
check(void *context, struct portolan_error *error)
{
	struct artifacts *artifacts = context;
	struct corpus_options *options = &artifacts->corpus_options;
	const char *plot = artifacts->plot, *epochs = artifacts->plot_epochs;
	bool script = options->common.script;
	int status = corpus_options_check(options);

	if (status == 0)
		status = format_of_table(&options->common, "-o", options->common.output, ROWS_TSV, &artifacts->format);
	if (status == 0 && format_is_for_people(&options->common))
		artifacts->format = ROWS_ALIGNED;
	if (status == 0)
		status = format_of_table(&options->common, "--by-epoch", artifacts->by_epoch, ROWS_CSV,
		                         &artifacts->by_epoch_format);
	if (status == 0)
		status = format_of_table(&options->common, "--summary", artifacts->summary, ROWS_TSV,
		                         &artifacts->summary_format);
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

static int
run(void *context, struct portolan_error *error)
{
	struct artifacts *artifacts = context;
	const struct corpus_options *options = &artifacts->corpus_options;
	int code = artifacts->plot ? picture_check(&artifacts->picture, error) : 0, status = STATUS_DONE;

	if (code >= 0 && artifacts->plot_epochs)
		code = picture_check(&artifacts->epochs_picture, error);
	if (code >= 0)
		code = corpus_open(&artifacts->corpus, &options->request, error);
	if (code >= 0)
		code = counts_make(&artifacts->corpus, NULL, NULL, &artifacts->counts, error);
	if (code >= 0)
		code = rank(artifacts, error);
	if (code >= 0)
		artifacts->rows = count_rows(artifacts);
	if (code >= 0 && artifacts->run)
		code = artifacts_sides_make(artifacts, error);
	if (code >= 0 && artifacts->plot)
		code = draw(artifacts, error);
	if (code >= 0)
		code = write_table(artifacts, error);
	if (code >= 0 && artifacts->run)
		status = code = artifacts_sides_finish(artifacts, error);
	if (code >= 0)
		code = corpus_options_report(options, &artifacts->counts, &artifacts->ranking);
	if (code >= 0 && artifacts->missing > 0)
		message_warning("%s: tokens that stand in no record of %s, and are left out: %s", artifacts->statistics,
		                options->request.path, NUMBER_GROUPED(artifacts->missing));
	artifacts_sides_free(artifacts);
	ranking_free(&artifacts->ranking);
	counts_free(&artifacts->counts);
	corpus_close(&artifacts->corpus);
	return code == STATUS_DONE ? status : code;
}

#define TO(member) .offset = offsetof(struct artifacts, member)
static const struct option_spec options[] = {
        {"count", "K", OPTION_WHOLE, .old_names = "top", TO(corpus_options.top), .least = 1, .most = TOP_MAX,
         .group = OPTION_GROUP_OUTPUT, .often = true,
         .help = "Print the first K tokens only. Default: all; with --run 10."},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true,
         .help = "Draw p* and z* of all tokens: against their frequency, those that are more than chance told apart, the first 20 of them with their names; with --run also the accuracy on both sides of each; .png, .svg or .pdf."},
        {"run", "RUN", OPTION_RUN, TO(run), .needs = "id-field", .often = true,
         .help = "Add how a run did on the records that hold a token: those of its label (majority) beside those of others (minority)."},
        {"id-field", "FIELD", OPTION_TEXT, TO(corpus_options.request.id), .needs = "run", .often = true,
         .help = "The field of DATA that holds the ids of --run."},
        {"glue", NULL, OPTION_FLAG, TO(corpus_options.request.glue), .needs = "run", .group = OPTION_GROUP_HOW,
         .help = GLUE_HELP " The accuracies are of these lines; tokens are counted in all that have a label."},
        {"statistics", "FILE", OPTION_INPUT, TO(statistics), .needs = "run",
         .excludes = "min-count max-count prior tokens",
         .help = "Take the tokens, their order, labels, n, p_star and z_star from FILE, a table that this command wrote of other data, mostly the training data: TSV, CSV or JSON lines; its first 10 rows, or --count. "
                 "The columns of counts and the accuracies are those of DATA; prior and p_bonferroni are left out. --ngrams, --per-field and --stop-words must be those of FILE."},
        {"summary", "FILE", OPTION_OUTPUT, TO(summary), .needs = "run",
         .help = "Write how accurate the run is, at its last epoch, on all its examples (overall), on those that hold one of the tokens (touched), on the rest, and on the majority and minority sides of all tokens taken together: TSV, or what FILE ends with. "
                 "In the last two an example counts once for each of the tokens that it holds."},
        {"after", "RUN", OPTION_RUN, TO(after), .needs = "summary",
         .help = "Put a second run beside it in --summary: that of a model trained on the up-sampled data, say."},
        {"by-epoch", "FILE", OPTION_OUTPUT, TO(by_epoch), .needs = "run",
         .help = "Write both sides' accuracy at each epoch to FILE, with --run: CSV, or what FILE ends with."},
        {"plot-epochs", "FILE", OPTION_OUTPUT, TO(plot_epochs), .needs = "run",
         .help = "Draw both sides' accuracy over the epochs, with --run: the mean of the tokens; .png, .svg or .pdf."},
        {0},
};

static const struct artifacts defaults = {.corpus_options = {CORPUS_OPTIONS_DEFAULT}};

const struct command artifacts_command = {
        .name = "artifacts",
        .operands = "DATA",
        .summary = "which words give the label away, and how much",
        .examples =
                "which words of a premise or a hypothesis give the label away?\n"
                "portolan artifacts train.jsonl --text premise,hypothesis --label-field gold_label -o stats.tsv\n"
                "a smaller file: words and pairs of words, told apart by field, and drawn\n"
                "portolan artifacts train.csv --text premise,hypothesis --label-field gold_label --min-count 50 --ngrams 2 --per-field --count 100 --plot stats.svg -o stats.tsv\n"
                "does a model lean on them?\n"
                "portolan artifacts train.jsonl --text premise,hypothesis --label-field gold_label --run snli/seed1 --id-field id --plot-epochs lean.svg\n"
                "of test data, by the words of training data, before and after up-sampling\n"
                "portolan artifacts test.jsonl --text premise,hypothesis --label-field gold_label --statistics stats.tsv --run test/before --after test/after --id-field id --summary table1.tsv\n",
        .help = "If a task were free of spurious hints, no single word would say anything about the label (Gardner et al. 2021). "
                "DATA is your file: JSON lines, CSV or TSV; \"-\" is standard input. "
                "Of each token that stands in at least --min-count records it prints token, n (records that hold it, however often), label (the one it points to), p_star (p*: the label's share of them), z_star (z*: by how many standard deviations that share lies above the prior; the label is the one with the largest) and a column of counts for each label, then, last, prior_share (or prior_uniform: see --prior; what is expected of the label) and p_bonferroni; the strongest first: as TSV, or what FILE ends with (csv, jsonl, json, npy); on a terminal in aligned columns, of a long table its ends. "
                "With 20,000 tokens, chance alone makes z* of 4 and more, and of 6 where few records of the label are expected. "
                "p_bonferroni is the probability that chance makes any token of the table stand with any label so often, at most: the exact binomial tail, times tokens and labels (Bonferroni). "
                "At 0.01 or less a token is more than chance; --plot draws that line, which upsample --significant goes by.\n\n"
                "Tokens are words as Unicode (Standard Annex 29) has them, in any script: lower-cased, composed (NFC), with ' for its typographic form, without soft hyphens and the like; what holds no letter and no digit is left out, as are words over 256 bytes. "
                "Texts are cut at white space first. "
                "Records without any token are counted as records, and warned about. "
                "A text that is not UTF-8, a field that is missing, and a label that is empty are errors, which name file, line and field.\n\n"
                "Labels may be texts, numbers, true and false, which are 1 and 0. Their columns are in ascending order.\n\n"
                "With --run, after the counts follow majority_n, majority_accuracy, minority_n and minority_accuracy: of the records that hold the token and are examples of the run, those whose label is the token's label, and the others; accuracy is that of the run's last epoch (see --epochs). "
                "Then follow the means of confidence, variability, correctness, forgetting_events and, where recorded, aum and el2n for both. "
                "A model that leans on a token does better on the first than on the second.",
        .common = COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STORE | COMMON_THREADS | COMMON_STRICT | COMMON_SCRIPT,
        .options = options,
        .base = corpus_option_table,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct artifacts),
        .defaults = &defaults,
        .check = check,
        .run = run,
};
