/* artifacts.c: portolan artifacts: which tokens give the label away. */
#include "commands.h"

#include "artifacts/ranking_chart.h"
#include "corpus_options.h"
#include "output/text.h"
#include "plot/chart.h"
#include "program/message.h"

#include <portolan/error.h>

#define STATUS_STOPPED 1000 /* no exit status: the options have theirs */

enum { KEY_PLOT = OPTION_KEY };

#define NAMED 20 /* tokens whose names stand in the chart */

struct artifacts {
	struct options options;
	struct corpus_options corpus_options;
	const char *plot;
	struct picture picture;
	struct corpus corpus;
	struct token_counts counts;
	struct ranking ranking;
};

static void
write_header(struct output *output, const struct token_counts *counts)
{
	output_text(output, "token\tn\tlabel\tp_star\tz_star");
	for (size_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *label = counts_label(counts, l, &length);

		output_text(output, "\t");
		output_bytes(output, label, length);
	}
	output_text(output, "\n");
}

static void
write_row(struct output *output, const struct token_counts *counts, const struct ranked_token *row)
{
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
	output_text(output, "\n");
}

static int
write_table(const struct artifacts *artifacts, struct portolan_error *error)
{
	const struct ranking *ranking = &artifacts->ranking;
	uint64_t top = artifacts->corpus_options.top;
	size_t count = top && top < ranking->count ? (size_t)top : ranking->count;
	struct output output;
	int code = output_open(&output, artifacts->options.common.output, error);

	if (code < 0)
		return code;
	write_header(&output, &artifacts->counts);
	for (size_t i = 0; i < count; i++)
		write_row(&output, &artifacts->counts, &ranking->list[i]);
	return output_finish(&output, error);
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
	int code = artifacts->plot ? picture_check(&artifacts->picture, error) : 0;

	if (code >= 0)
		code = corpus_open(&artifacts->corpus, &options->request, error);

	if (code >= 0)
		code = counts_make(&artifacts->corpus, NULL, NULL, &artifacts->counts, error);
	if (code >= 0)
		code = ranking_make(&artifacts->counts, &options->ranking, &artifacts->ranking, error);
	if (code >= 0 && artifacts->plot)
		code = draw(artifacts, error);
	if (code >= 0)
		code = write_table(artifacts, error);
	if (code >= 0)
		code = corpus_options_report(options, &artifacts->counts, &artifacts->ranking,
		                             artifacts->options.common.strict);
	ranking_free(&artifacts->ranking);
	counts_free(&artifacts->counts);
	corpus_close(&artifacts->corpus);
	return code;
}

static int
take_option(struct artifacts *artifacts, const struct command *command, int key, const char *text)
{
	if (key != KEY_PLOT)
		return corpus_options_take(&artifacts->corpus_options, command, key, text);
	artifacts->plot = text;
	return 0;
}

static int
check_options(struct artifacts *artifacts, const struct command *command)
{
	struct portolan_error error;

	if (artifacts->plot &&
	    picture_init(&artifacts->picture, "--plot", artifacts->plot, CHART_DATA_ENDING, &error) < 0)
		return options_wrong(command, "%s", error.message);
	return corpus_options_check(&artifacts->corpus_options, &artifacts->options);
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
        {"top", KEY_TOP, "K", "Print the first K tokens only. Default: all."},
        CORPUS_OPTIONS_TOKENS,
        {"plot", KEY_PLOT, "FILE",
         "Draw p* and z* of all tokens against their frequency, the first 20 with their names; .png, .svg or .pdf."},
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
                "--per-field --top 100 --plot stats.svg -o stats.tsv\n",
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
                "' for its typographic form; what holds no letter and no digit is left out, as are words over 256 "
                "bytes. "
                "Texts are cut at white space first. Records without any token are counted as records, and warned "
                "about. "
                "A text that is not UTF-8, a field that is missing, and a label that is empty are errors, which name "
                "file, line and field.\n\n"
                "Labels may be texts, numbers, true and false. Their columns are in ascending order.",
        .common = COMMON_OUTPUT | COMMON_THREADS | COMMON_STRICT,
        .options = options,
        .run = run,
};
