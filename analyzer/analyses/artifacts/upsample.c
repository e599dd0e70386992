/* upsample.c: portolan upsample: repeats the records that contradict tokens which give a label away. */
#include "base/message.h"
#include "base/number.h"
#include "options/format.h"
#include "plot/chart.h"
#include "selection/manifest.h"
#include "upsample.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

#define TOP 10
#define STEP 0.2
#define ITERATIONS 50
#define ITERATIONS_MAX 100000
#define PATIENCE 10
#define PUBLISHED_ITERATIONS 10 /* of Han Chen's experiment */
#define NOT_GIVEN UINT64_MAX
#define KEEP_SHARE 4 /* of --max-memory, for what would have to be read again */

static const char *const pick_names[] = {"conflict-free", "uniform", NULL};
static const char *const weight_names[] = {"count", "share", NULL};

static int
check(void *context, struct portolan_error *error)
{
	struct upsample *upsample = context;
	struct common_options *common = &upsample->corpus_options.common;

	if (upsample->as_published) {
		upsample->pick = BALANCE_UNIFORM;
		upsample->iterations = PUBLISHED_ITERATIONS;
		upsample->corpus_options.prior = 1;
	}
	if (upsample->patience == NOT_GIVEN) /* uniform draws, and when they end, are the paper's */
		upsample->patience = upsample->pick == BALANCE_UNIFORM ? 0 : PATIENCE;
	upsample->corpus_options.request.keep = common->query.max_memory / KEEP_SHARE;
	if (!common->output)
		return options_wrong(common, "where to? -o FILE (the report goes to standard output)");
	if (common->json && strcmp(common->output, "-") == 0)
		return options_wrong(common, "--json and the data cannot both go to standard output: give -o a file");
	if (upsample->plot &&
	    picture_init(&upsample->picture, PICTURE_CHART, "--plot", upsample->plot, common->script, error) < 0)
		return PORTOLAN_E_INVALID;
	if (manifest_claim(common->output, error) < 0)
		return PORTOLAN_E_INVALID;
	return corpus_options_check(&upsample->corpus_options);
}

static int
count_shares(struct upsample *upsample, struct portolan_error *error)
{
	const struct token_counts *counts = &upsample->counts;
	double all = (double)(counts->records - counts->ignored + upsample->balance.added);

	upsample->shares_after = calloc(counts->label_count + 1, sizeof(double));
	if (!upsample->shares_after)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	for (size_t l = 0; l < counts->label_count; l++)
		upsample->shares_after[l] = (double)counts->label_records[l];
	for (size_t i = 0; i < upsample->holders.count; i++)
		upsample->shares_after[upsample->holders.groups[upsample->holders.list[i].group].label] +=
		        upsample->balance.repeats[i];
	for (size_t l = 0; l < counts->label_count; l++)
		upsample->shares_after[l] /= all;
	return 0;
}

static int
balance_tokens(struct upsample *upsample, struct portolan_error *error)
{
	const struct holders_request search = {.corpus = &upsample->corpus,
	                                       .counts = &upsample->counts,
	                                       .tokens = upsample->ranking.list,
	                                       .token_count = upsample->token_count};
	struct balance_request request = {.holders = &upsample->holders,
	                                  .token_count = upsample->token_count,
	                                  .label_count = upsample->counts.label_count,
	                                  .shares = upsample->ranking.shares,
	                                  .step = upsample->step,
	                                  .iterations = (unsigned)upsample->iterations,
	                                  .patience = (unsigned)upsample->patience,
	                                  .pick = upsample->pick,
	                                  .max_multiplicity = (uint32_t)upsample->max_multiplicity,
	                                  .seed = upsample->seed};
	int code = holders_find(&search, &upsample->holders, error);

	if (code >= 0)
		code = balance_make(&request, &upsample->balance, error);
	if (code >= 0)
		code = count_shares(upsample, error);
	return code;
}

static int
write_manifest(const struct upsample *upsample, struct portolan_error *error)
{
	struct manifest manifest;
	int code = manifest_open(&manifest, "upsample", upsample->corpus_options.common.output, NULL, NULL, error);

	if (code < 0)
		return code;
	upsample_add_request(&manifest.report, upsample);
	upsample_add_report(&manifest.report, "report", upsample);
	return manifest_close(&manifest, error);
}

static int
check_plot(const struct upsample *upsample, struct portolan_error *error)
{
	return upsample->plot ? picture_check(&upsample->picture, error) : 0;
}

/* Everything that can fail comes before the data is written; the report last. A code, or STATUS_USAGE. */
static int
do_upsample(struct upsample *upsample, struct portolan_error *error)
{
	const struct corpus_options *options = &upsample->corpus_options;
	bool manifest = manifest_is_possible(upsample->corpus_options.common.output);
	int code = check_plot(upsample, error);

	if (code >= 0)
		code = corpus_open(&upsample->corpus, &options->request, error);
	if (code >= 0)
		code = upsample->weights == UPSAMPLE_RECORDS
		               ? format_of_lines(&options->common, "-o", options->common.output, options->request.path,
		                                 upsample->corpus.file.format)
		               : format_of_one(&options->common, "-o", options->common.output, "weights");
	if (code == STATUS_USAGE)
		return code;
	if (code >= 0)
		code = counts_make(&upsample->corpus, NULL, NULL, &upsample->counts, error);
	if (code >= 0)
		code = ranking_make(&upsample->counts, &options->ranking, &upsample->ranking, error);
	if (code < 0)
		return code;
	upsample->token_count =
	        options->ranking.significant_first ? upsample->ranking.significant : upsample->ranking.count;
	if (options->top < upsample->token_count)
		upsample->token_count = (size_t)options->top;
	code = balance_tokens(upsample, error);
	if (code >= 0 && upsample->plot)
		code = upsample_draw(upsample, error);
	if (code >= 0)
		code = upsample_write(upsample, error);
	if (code >= 0 && manifest)
		code = write_manifest(upsample, error);
	if (code >= 0 && strcmp(upsample->corpus_options.common.output, "-") != 0)
		code = upsample_report(upsample, error);
	return code;
}

/* Tokens that nearly always stand with one label take many repeats of the few records that contradict them. */
static void
warn_of_growth(const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	uint64_t most = 0;

	if (balance->added <= upsample->counts.records)
		return;
	for (size_t i = 0; i < upsample->holders.count; i++)
		most = balance->repeats[i] > most ? balance->repeats[i] : most;
	message_warning(
	        "%s more than doubled, by %s repeats; a record stands up to %s times: a model may learn such records by heart; take fewer tokens (--count), or cap it (--max-multiplicity)",
	        upsample->corpus.file.path, NUMBER_GROUPED(balance->added), NUMBER_GROUPED(most + 1));
}

/* Prints the last messages; returns the status. */
static int
finish(const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	const char *what = "the report says which tokens, and why (see also --iterations and --max-multiplicity)";
	int status = corpus_options_report(&upsample->corpus_options, &upsample->counts, &upsample->ranking);

	warn_of_growth(upsample);
	if (balance->imbalance[balance->iterations] == 0)
		return status;
	if (balance->tried > balance->iterations)
		what = "from there on the tokens pulled against each other, which was taken back: take fewer (--count), or see --pick and --patience";
	else if (balance->imbalance[balance->iterations] > balance->imbalance[0])
		what = "less so than before, as the tokens pull against each other: take fewer (--count), or see --pick, --patience and --max-multiplicity";
	message_warning("%s is not balanced: %s", upsample->corpus.file.path, what);
	return upsample->corpus_options.common.strict ? STATUS_INCOMPLETE : status;
}

static void
release(struct upsample *upsample)
{
	free(upsample->shares_after);
	balance_free(&upsample->balance);
	holders_free(&upsample->holders);
	ranking_free(&upsample->ranking);
	counts_free(&upsample->counts);
	corpus_close(&upsample->corpus);
}

static int
run(void *context, struct portolan_error *error)
{
	struct upsample *upsample = context;
	int code = do_upsample(upsample, error);

	if (code >= 0 && code != STATUS_USAGE)
		code = finish(upsample);
	release(upsample);
	return code;
}

#define TO(member) .offset = offsetof(struct upsample, member)
static const struct option_spec options[] = {
        {"count", "K", OPTION_WHOLE, .old_names = "top", TO(corpus_options.top), .least = 1, .most = HOLDERS_TOKENS_MAX,
         .group = OPTION_GROUP_HOW, .often = true,
         .help = "Balance the K tokens of the highest z*: those that give the label away most. Default: 10."},
        {"significant", NULL, OPTION_FLAG, TO(corpus_options.ranking.significant_first), .group = OPTION_GROUP_HOW,
         .help = "Take only tokens that chance does not explain: by exact binomial tails, at 0.01 after Bonferroni (see portolan help artifacts)."},
        {"step", "F", OPTION_REAL, TO(step), .range = RANGE_ABOVE_TO, .to = 1, .group = OPTION_GROUP_HOW,
         .help = "In each iteration, draw this share of the records that a token lacks of a label. Default: 0.2."},
        {"iterations", "N", OPTION_WHOLE, TO(iterations), .least = 1, .most = ITERATIONS_MAX, .group = OPTION_GROUP_HOW,
         .help = "Iterations at most. Default: 50."},
        {"patience", "N", OPTION_WHOLE, TO(patience), .most = ITERATIONS_MAX, .group = OPTION_GROUP_HOW,
         .help = "Stop when the imbalance has not fallen below its lowest for N iterations, or has grown tenfold, and take the result of the lowest. 0: go on to the last iteration, and take its result. "
                 "Default: 10; with --pick uniform 0, as in the paper."},
        {"pick", "conflict-free|uniform", OPTION_CHOICE, TO(pick), .choices = pick_names, .group = OPTION_GROUP_HOW,
         .help = "Which records to repeat: those that set back the fewest other tokens (the default), or any."},
        {"as-published", NULL, OPTION_FLAG, TO(as_published),
         .excludes = "pick iterations patience max-multiplicity prior", .group = OPTION_GROUP_HOW,
         .help = "Draw as the paper does: --prior uniform --pick uniform --iterations 10 --patience 0."},
        {"max-multiplicity", "M", OPTION_WHOLE, TO(max_multiplicity), .least = 1, .most = UINT32_MAX,
         .group = OPTION_GROUP_HOW, .help = "Write no record more than M times (itself included). Default: no limit."},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .group = OPTION_GROUP_HOW,
         .help = "Seed of random draws. Default: 0."},
        {"weights", "count|share", OPTION_CHOICE, TO(weights), .choices = weight_names, .group = OPTION_GROUP_OUTPUT,
         .often = true,
         .help = "Write no records, but a line for each record of DATA: how often it would stand in the result, or its share of the result, to sample with."},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true,
         .help = "Draw p* and z* before and after, and the imbalance. Of each token, and by iteration; .png, .svg or .pdf."},
        {0},
};

static const struct upsample defaults = {
        .corpus_options = {CORPUS_OPTIONS_DEFAULT, .top = TOP},
        .weights = UPSAMPLE_RECORDS,
        .step = STEP,
        .iterations = ITERATIONS,
        .patience = NOT_GIVEN,
};

const struct command upsample_command = {
        .name = "upsample",
        .operands = "DATA",
        .summary = "repeat the records that contradict such words",
        .examples =
                "repeat records until the ten worst words say nothing about the label\n"
                "portolan upsample train.jsonl --text premise,hypothesis --label-field gold_label -o balanced.jsonl\n"
                "no record more than 20 times; how far does that lead?\n"
                "portolan upsample train.jsonl --text premise,hypothesis --label-field gold_label --max-multiplicity 20 --plot balanced.svg -o balanced.jsonl\n"
                "the paper's own settings, and its Figure 3\n"
                "portolan upsample train.jsonl --text premise,hypothesis --label-field gold_label --as-published --plot balanced.svg -o balanced.jsonl\n"
                "leave the file alone, and write how often to draw each of its records\n"
                "portolan upsample train.jsonl --text premise,hypothesis --label-field gold_label --weights count -o weights.txt\n",
        .help = "Takes the first K tokens of portolan artifacts, and repeats records until each of them says nothing of the label, as the prior has it (Chen, No More Distractions, Algorithm 1). "
                "With --prior share, it then stands with each label in proportion to the label's share of DATA, less than a record short of it; with --prior uniform, as in the paper, in equally many records of every label. With even labels that is the same. "
                "The label that has most of its share leads. In each iteration, for each token and each other label, a share (--step) of the records that it lacks is drawn, with replacement, from those of DATA that hold the token and have the label. "
                "A record may hold several of the tokens, and repeating it for one can set back another; unless told otherwise, those that set back the fewest are drawn. "
                "The same seed draws the same records.\n\n"
                "FILE gets DATA as it is, then the repeats, byte for byte, in the order of DATA; FILE.manifest.json beside it says how it was made. "
                "The report goes to standard output: growth, how often records stand, p* and z* before and after, and what could not be balanced, and why: no record has token and label, --max-multiplicity was reached, or the iterations were up. "
                "z* is against the shares of DATA, before and after. Repeats move the labels' shares of the whole, which the report says as well, and which portolan artifacts takes for the prior of the result. "
                "With -o - the data goes to standard output, and the report nowhere.\n\n"
                "A record that contradicts one token may confirm another, and so repeats may do more harm than good, the more so the more labels there are. "
                "When the imbalance, the sum of all that is lacking, has not fallen below its lowest for 10 iterations (--patience), or has grown tenfold, what came after the lowest is taken back, and said. "
                "--pick uniform is the paper's algorithm to the letter, which may grow without end: give it a --patience. --as-published takes the number of iterations from the paper as well.\n\n"
                "Where few records contradict a token, each of these is repeated often, and its other words become hints in their turn: look at the multiplicities, at --plot, or at portolan artifacts of the result.\n\n"
                "Tokens are those of portolan artifacts; see there. Time and memory grow with K: at most 1000.",
        .common = COMMON_OUTPUT | COMMON_JSON | COMMON_THREADS | COMMON_MEMORY | COMMON_STRICT | COMMON_SCRIPT,
        .options = options,
        .base = corpus_option_table,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct upsample),
        .defaults = &defaults,
        .check = check,
        .run = run,
};
