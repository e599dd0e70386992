/* artifacts.c: portolan artifacts: which tokens give the label away. */
#include "commands.h"

#include "artifacts.h"
#include "artifacts/ranking_chart.h"
#include "output/text.h"
#include "plot/chart.h"
#include "program/message.h"

#include <portolan/error.h>

#include <string.h>

#define STATUS_STOPPED 1000 /* no exit status: the options have theirs */

enum { KEY_PLOT = OPTION_KEY, KEY_RUN, KEY_ID_FIELD, KEY_BY_EPOCH, KEY_PLOT_EPOCHS };

#define TOP_WITH_RUN 10
#define NAMED 20 /* tokens whose names stand in the chart */

static void
write_header(struct output *output, const struct artifacts *artifacts)
{
	const struct token_counts *counts = &artifacts->counts;

	output_text(output, "token\tn\tlabel\tp_star\tz_star");
	for (size_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *label = counts_label(counts, l, &length);

		output_text(output, "\t");
		output_bytes(output, label, length);
	}
	if (artifacts->run)
		artifacts_sides_header(output, artifacts);
	output_text(output, "\n");
}

static void
write_row(struct output *output, const struct artifacts *artifacts, size_t token)
{
	const struct token_counts *counts = &artifacts->counts;
	const struct ranked_token *row = &artifacts->ranking.list[token];
	const uint32_t *by_label = counts_of(counts, row->token);
	size_t length;
	const char *text = names_text(&counts->tokens, row->token, &length);

	output_bytes(output, text, length);
	output_text(output, "\t");
	text_integer(output, row->statistic.n);
	output_text(output, "\t");
	text = counts_label(counts, row->statistic.label, &length);
	output_bytes(output, text, length);
	output_text(output, "\t");
	text_number(output, row->statistic.p_star);
	output_text(output, "\t");
	text_number(output, row->statistic.z_star);
	for (size_t l = 0; l < counts->label_count; l++) {
		output_text(output, "\t");
		text_integer(output, by_label[l]);
	}
	if (artifacts->run)
		artifacts_sides_row(output, artifacts, token);
	output_text(output, "\n");
}

static int
write_table(const struct artifacts *artifacts, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, artifacts->options.common.output, error);

	if (code < 0)
		return code;
	write_header(&output, artifacts);
	for (size_t i = 0; i < artifacts->rows; i++)
		write_row(&output, artifacts, i);
	return output_finish(&output, error);
}

static size_t
count_rows(const struct artifacts *artifacts)
{
	uint64_t top = artifacts->corpus_options.top, all = artifacts->ranking.count;

	if (top == 0)
		top = artifacts->run ? TOP_WITH_RUN : all;
	return (size_t)(top < all ? top : all);
}

static int
draw(const struct artifacts *artifacts, struct portolan_error *error)
{
	uint64_t top = artifacts->corpus_options.top;

	if (artifacts->ranking.count == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s: there are no tokens to draw: see --min-count",
		                 artifacts->corpus.file.path);
	return ranking_chart(artifacts->corpus.file.path, &artifacts->counts, &artifacts->ranking,
	                     top && top < NAMED ? (size_t)top : NAMED, &artifacts->picture, error);
}

static int
do_artifacts(struct artifacts *artifacts, struct portolan_error *error)
{
	const struct corpus_options *options = &artifacts->corpus_options;
	int code = artifacts->plot ? picture_check(&artifacts->picture, error) : 0, status = STATUS_DONE;

	if (code >= 0 && artifacts->plot_epochs)
		code = picture_check(&artifacts->epochs_picture, error);
	if (code >= 0)
		code = corpus_open(&artifacts->corpus, &options->request, error);

	if (code >= 0)
		code = counts_make(&artifacts->corpus, NULL, NULL, &artifacts->counts, error);
	if (code >= 0)
		code = ranking_make(&artifacts->counts, &options->ranking, &artifacts->ranking, error);
	if (code >= 0)
		artifacts->rows = count_rows(artifacts);
	if (code >= 0 && artifacts->plot)
		code = draw(artifacts, error);
	if (code >= 0 && artifacts->run)
		code = artifacts_sides_make(artifacts, error);
	if (code >= 0)
		code = write_table(artifacts, error);
	if (code >= 0 && artifacts->run)
		status = code = artifacts_sides_finish(artifacts, error);
	if (code >= 0)
		code = corpus_options_report(options, &artifacts->counts, &artifacts->ranking,
		                             artifacts->options.common.strict);
	artifacts_sides_free(artifacts);
	ranking_free(&artifacts->ranking);
	counts_free(&artifacts->counts);
	corpus_close(&artifacts->corpus);
	return code == STATUS_DONE ? status : code;
}

static int
take_option(struct artifacts *artifacts, const struct command *command, int key, const char *text)
{
	switch (key) {
	case KEY_PLOT:
		artifacts->plot = text;
		return 0;
	case KEY_RUN:
		artifacts->run = text;
		return 0;
	case KEY_ID_FIELD:
		artifacts->corpus_options.request.id = text;
		return 0;
	case KEY_BY_EPOCH:
		artifacts->by_epoch = text;
		return 0;
	case KEY_PLOT_EPOCHS:
		artifacts->plot_epochs = text;
		return 0;
	default:
		return corpus_options_take(&artifacts->corpus_options, command, key, text);
	}
}

static int
check_outputs(const struct artifacts *artifacts, const struct command *command)
{
	const struct {
		const char *option, *file;
	} outputs[] = {
	        {"-o", artifacts->options.common.output},
	        {"--plot", artifacts->plot},
	        {"--by-epoch", artifacts->by_epoch},
	        {"--plot-epochs", artifacts->plot_epochs},
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs) && status == 0; i++)
		status = corpus_options_check_output(&artifacts->corpus_options, command, outputs[i].option,
		                                     outputs[i].file);
	return status;
}

static int
check_options(struct artifacts *artifacts, const struct command *command)
{
	const struct corpus_options *options = &artifacts->corpus_options;
	const char *output = artifacts->options.common.output;
	struct portolan_error error;
	int status = corpus_options_check(&artifacts->corpus_options, &artifacts->options);

	if (status != 0)
		return status;
	if (artifacts->plot &&
	    picture_init(&artifacts->picture, "--plot", artifacts->plot, CHART_DATA_ENDING, &error) < 0)
		return options_wrong(command, "%s", error.message);
	if (artifacts->plot_epochs && picture_init(&artifacts->epochs_picture, "--plot-epochs", artifacts->plot_epochs,
	                                           CHART_DATA_ENDING, &error) < 0)
		return options_wrong(command, "%s", error.message);
	if (artifacts->run && !options->request.id)
		return options_wrong(command, "--run needs --id-field NAME: which field of DATA has the examples' ids");
	if (!artifacts->run && (options->request.id || artifacts->by_epoch || artifacts->plot_epochs))
		return options_wrong(command, "--id-field, --by-epoch and --plot-epochs go with --run");
	if (artifacts->by_epoch && strcmp(artifacts->by_epoch, output ? output : "-") == 0)
		return options_wrong(command, "--by-epoch and -o name the same file");
	if (artifacts->run && options->top > HOLDERS_TOKENS_MAX)
		return options_wrong(command, "--top %llu: with --run at most %d", (unsigned long long)options->top,
		                     HOLDERS_TOKENS_MAX);
	return check_outputs(artifacts, command);
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct artifacts artifacts = {.corpus_options = corpus_options_default()};
	struct portolan_error error;
	int key, code = 0;

	options_begin(&artifacts.options, command, argc, argv);
	while (code == 0 && (key = options_next(&artifacts.options)) > 0)
		code = take_option(&artifacts, command, key, artifacts.options.argument);
	if (code == 0)
		code = key == OPTIONS_END ? check_options(&artifacts, command) : STATUS_STOPPED;
	if (code == 0) {
		code = do_artifacts(&artifacts, &error);
		if (code < 0) {
			message_error("%s", error.message);
			code = STATUS_FAILED;
		}
	}
	corpus_options_free(&artifacts.corpus_options);
	return code == STATUS_STOPPED ? artifacts.options.status : code;
}

static const struct command_option options[] = {
        CORPUS_OPTIONS_FIELDS,
        {"top", KEY_TOP, "K", "Print the first K tokens only. Default: all; with --run 10."},
        CORPUS_OPTIONS_TOKENS,
        {"plot", KEY_PLOT, "FILE",
         "Draw p* and z* of all tokens against their frequency, the first 20 with their names; .png, .svg or .pdf."},
        {"run", KEY_RUN, "RUN",
         "Add how a recorded run did on the records that hold a token: those of its label (majority) beside those of "
         "others (minority)."},
        {"id-field", KEY_ID_FIELD, "NAME", "With --run: the field of DATA that has the examples' ids."},
        {"by-epoch", KEY_BY_EPOCH, "FILE", "With --run: write both sides' accuracy at each epoch to FILE, as TSV."},
        {"plot-epochs", KEY_PLOT_EPOCHS, "FILE",
         "With --run: draw both sides' accuracy over the epochs, as the mean of the tokens; .png, .svg or .pdf."},
        {0},
};

const struct command artifacts_command = {
        .name = "artifacts",
        .operands = "DATA",
        .summary = "which words give the label away, and how much",
        .examples =
                "which words of a premise or a hypothesis give the label away?\n"
                "portolan artifacts train.jsonl --text premise,hypothesis --label gold_label -o stats.tsv\n"
                "the same for a smaller file, words and pairs of words, told apart by field, and drawn\n"
                "portolan artifacts train.csv --text premise,hypothesis --label gold_label --min-count 50 --ngrams 2 "
                "--per-field --top 100 --plot stats.svg -o stats.tsv\n"
                "does a model lean on them?\n"
                "portolan artifacts train.jsonl --text premise,hypothesis --label gold_label --run snli/seed1 "
                "--id-field "
                "id --plot-epochs lean.svg\n",
        .help = "If a task were free of spurious hints, no single word would say anything about the label (Gardner et "
                "al. "
                "2021). DATA is your file: JSON lines, CSV or TSV; \"-\" is standard input. Of each token that stands "
                "in at least --min-count records it "
                "prints token, n (records that hold it, however often), label (the one it points to), p_star (p*: the "
                "largest share that a label has of them), z_star (z*: by how many standard deviations the share lies "
                "above the prior; the largest over the labels) and a column of counts for each label; the strongest "
                "first, as TSV. With 20,000 tokens, chance alone makes z* of 4 and more: --plot draws the line of "
                "significance at 0.01 after Bonferroni.\n\n"
                "Tokens are words as Unicode (Standard Annex 29) has them, in any script: lower-cased, composed (NFC), "
                "with "
                "' for its typographic form, without soft hyphens and the like; what holds no letter and no digit is "
                "left out, as are words over 256 "
                "bytes. "
                "Texts are cut at white space first. Records without any token are counted as records, and warned "
                "about. "
                "A text that is not UTF-8, a field that is missing, and a label that is empty are errors, which name "
                "file, line and field.\n\n"
                "Labels may be texts, numbers, true and false, which are 1 and 0. Their columns are in ascending "
                "order.\n\n"
                "With --run, the table ends with majority_n, majority_accuracy, minority_n and minority_accuracy: of "
                "the "
                "records that hold the token and are examples of the run, those whose label is the token's label, and "
                "the others; accuracy is that of the run's last epoch (see --epochs). Then follow the means of "
                "confidence, variability, correctness, forgetting_events and, where recorded, aum and el2n for both. A "
                "model that leans on a token does better on the first than on the second.",
        .common = COMMON_OUTPUT | COMMON_EPOCHS | COMMON_STORE | COMMON_THREADS | COMMON_STRICT,
        .options = options,
        .run = run,
};
