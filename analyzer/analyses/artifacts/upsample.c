/*
 * upsample.c: the command `portolan upsample`: repeats records of a file of labelled texts, or weighs them, so that no
 * token gives the label away any more: it takes more of the records that contradict such tokens. Here are its options,
 * the data or weights that it writes, and the order of its work.
 */
#include "upsample.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "options/format.h"
#include "output/text.h"
#include "selection/manifest.h"

#include <stdlib.h>
#include <string.h>

#define TOP 10
#define STEP 0.2
#define ITERATIONS 50
#define ITERATIONS_MAX 100000
#define PATIENCE 10
#define PUBLISHED_ITERATIONS 10 /* of Han Chen's experiment */
#define NOT_GIVEN UINT64_MAX
#define KEEP_SHARE 4 /* this part of --max-memory may hold what else would be read again (kept.h) */

static const char *const pick_names[] = {"conflict-free", "uniform", NULL};
static const char *const weight_names[] = {"count", "share", NULL};

static int
upsample_check(void *context, struct portolan_error *error)
{
	struct upsample *upsample = context;
	struct common_options *common = &upsample->corpus_options.common;

	if (upsample->as_published) {
		upsample->pick = BALANCE_UNIFORM;
		upsample->iterations = PUBLISHED_ITERATIONS;
		upsample->corpus_options.ranking.uniform = 1;
	}
	if (upsample->patience == NOT_GIVEN) /* uniform draws are those of the paper, which has no patience */
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

static void
upsample_count_shares(struct upsample *upsample)
{
	const struct token_counts *counts = &upsample->counts;
	double all = (double)(counts->records - counts->ignored + upsample->balance.added);

	upsample->shares_after = memory_new(counts->label_count, sizeof(double));
	for (size_t l = 0; l < counts->label_count; l++)
		upsample->shares_after[l] = (double)counts->label_records[l];
	for (size_t i = 0; i < upsample->holders.count; i++)
		upsample->shares_after[upsample->holders.groups[upsample->holders.list[i].group].label] +=
		        upsample->balance.repeats[i];
	for (size_t l = 0; l < counts->label_count; l++)
		upsample->shares_after[l] /= all;
}

static void
upsample_balance(struct upsample *upsample)
{
	const struct holders_request search = {.corpus = &upsample->corpus,
	                                       .counts = &upsample->counts,
	                                       .tokens = upsample->ranking.list,
	                                       .token_count = upsample->token_count};
	const struct balance_request request = {.holders = &upsample->holders,
	                                        .token_count = upsample->token_count,
	                                        .label_count = upsample->counts.label_count,
	                                        .shares = upsample->ranking.shares,
	                                        .step = upsample->step,
	                                        .iterations = (unsigned)upsample->iterations,
	                                        .patience = (unsigned)upsample->patience,
	                                        .pick = upsample->pick,
	                                        .max_multiplicity = (uint32_t)upsample->max_multiplicity,
	                                        .seed = upsample->seed};

	holders_find(&search, &upsample->holders);
	balance_make(&request, &upsample->balance);
	upsample_count_shares(upsample);
}

/* The line end of the file, to be added to a last line without one. */
static const char *
upsample_line_end(const struct user_file *file)
{
	const char *newline = memchr(file->text, '\n', file->size);

	return newline && newline > file->text && newline[-1] == '\r' ? "\r\n" : "\n";
}

/* Writes the user's file as it is, then the repeats, each a whole record of the file. */
static void
upsample_write_records(const struct upsample *upsample, struct output *output)
{
	const struct user_file *file = &upsample->corpus.file;
	const char *end = upsample_line_end(file);

	if (!upsample->is_begun)
		output_bytes(output, file->text, file->size);
	if (file->size > 0 && file->text[file->size - 1] != '\n')
		output_text(output, end);
	for (size_t i = 0; i < upsample->holders.count; i++) {
		const struct holder *holder = &upsample->holders.list[i];

		for (uint32_t r = 0; r < upsample->balance.repeats[i] && !output->failure; r++) {
			output_bytes(output, file->text + holder->at, holder->size);
			if (file->text[holder->at + holder->size - 1] != '\n')
				output_text(output, end);
		}
	}
}

static void
upsample_write_weight(const struct upsample *upsample, struct output *output, uint64_t multiplicity)
{
	const struct token_counts *counts = &upsample->counts;

	if (upsample->weights == UPSAMPLE_COUNTS)
		text_integer(output, multiplicity);
	else
		text_number(output, (double)multiplicity /
		                            (double)(counts->records - counts->ignored + upsample->balance.added));
	output_text(output, "\n");
}

/* Writes a weight for each record: 0 where its label is ignored, as nothing can be learned from it. */
static void
upsample_write_weights(const struct upsample *upsample, struct output *output)
{
	const struct holders *holders = &upsample->holders;
	struct corpus_reader reader;
	uint64_t record = 0;
	size_t next = 0;

	corpus_reader_init(&reader, &upsample->corpus);
	for (size_t p = 0; p < upsample->corpus.parts.count; p++) {
		corpus_reader_begin(&reader, p);
		while (must(corpus_reader_record(&reader, &failure)) > 0) {
			uint64_t multiplicity = reader.ignored ? 0 : 1;

			if (next < holders->count && holders->list[next].record == record++)
				multiplicity += upsample->balance.repeats[next++];
			upsample_write_weight(upsample, output, multiplicity);
		}
	}
	corpus_reader_free(&reader);
}

static void
upsample_open(struct upsample *upsample)
{
	must(output_open(&upsample->output, upsample->corpus_options.common.output, &failure));
	upsample->output.digest = upsample->digest;
}

/* Writes a part of DATA that is counted. */
static void
upsample_copy(void *context, const char *text, size_t size)
{
	struct upsample *upsample = context;

	output_bytes(&upsample->output, text, size);
	must(output_check(&upsample->output, &failure)); /* on a full disk, counting the rest would be for nothing */
}

/* Counts DATA. If records are written to a file, DATA is copied to it meanwhile, as it stands there first: the file
 * does not have its name before it is whole. An output of another kind is begun when all is known to be well. */
static void
upsample_count(struct upsample *upsample)
{
	struct corpus *corpus = &upsample->corpus;

	if (manifest_is_possible(upsample->corpus_options.common.output))
		upsample->digest = memory_need(digest_new());
	upsample->is_begun = upsample->digest && upsample->weights == UPSAMPLE_RECORDS;
	if (upsample->is_begun) {
		upsample_open(upsample);
		upsample_copy(upsample, corpus->file.text, corpus->file.begin);
		corpus->request.take = upsample_copy;
		corpus->request.context = upsample;
	}
	counts_make(corpus, NULL, NULL, &upsample->counts);
	corpus->request.take = NULL; /* the chart counts once more */
}

static void
upsample_write(struct upsample *upsample)
{
	if (!upsample->is_begun)
		upsample_open(upsample);
	if (upsample->weights == UPSAMPLE_RECORDS)
		upsample_write_records(upsample, &upsample->output);
	else
		upsample_write_weights(upsample, &upsample->output);
	must(output_finish(&upsample->output, &failure));
}

static void
upsample_write_manifest(const struct upsample *upsample)
{
	struct manifest manifest;

	manifest_open(&manifest, "upsample", upsample->corpus_options.common.output, NULL, NULL);
	manifest.digest = upsample->digest;
	upsample_add_request(&manifest.report, upsample);
	upsample_add_report(&manifest.report, "report", upsample);
	manifest_close(&manifest);
}

/* Ranks the tokens, and chooses the first of them for balancing. */
static void
upsample_choose_tokens(struct upsample *upsample)
{
	const struct corpus_options *options = &upsample->corpus_options;
	const struct ranking *ranking = &upsample->ranking;

	ranking_make(&upsample->counts, &options->ranking, &upsample->ranking);
	upsample->token_count = options->ranking.significant_first ? ranking->significant : ranking->count;
	if (options->top < upsample->token_count)
		upsample->token_count = (size_t)options->top;
}

/* Writes the data, then its manifest, then the report. Everything else that can fail comes before. */
static void
upsample_write_all(struct upsample *upsample)
{
	const char *path = upsample->corpus_options.common.output;

	upsample_write(upsample);
	if (upsample->digest)
		upsample_write_manifest(upsample);
	if (strcmp(path, "-") != 0)
		upsample_report(upsample);
}

/* Warns where the data more than doubled: tokens that nearly always stand with one label take many repeats of the few
 * records that contradict them. */
static void
upsample_warn_of_growth(const struct upsample *upsample)
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

/* Warns if the result is not balanced. Returns an exit status. */
static int
upsample_finish(const struct upsample *upsample)
{
	const struct balance *balance = &upsample->balance;
	const char *what = "the report says which tokens, and why (see also --iterations and --max-multiplicity)";
	int status = corpus_options_report(&upsample->corpus_options, &upsample->counts, &upsample->ranking);

	upsample_warn_of_growth(upsample);
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
upsample_release(struct upsample *upsample)
{
	free(upsample->shares_after);
	digest_free(upsample->digest);
	balance_free(&upsample->balance);
	holders_free(&upsample->holders);
	ranking_free(&upsample->ranking);
	counts_free(&upsample->counts);
	corpus_close(&upsample->corpus);
}

static int
upsample_run(void *context, struct portolan_error *error)
{
	struct upsample *upsample = context;
	const struct corpus_options *options = &upsample->corpus_options;
	const char *path = options->common.output;
	int status;

	(void)error;
	if (upsample->plot)
		must(picture_check(&upsample->picture, &failure));
	corpus_open(&upsample->corpus, &options->request);
	status = upsample->weights == UPSAMPLE_RECORDS
	                 ? format_of_lines(&options->common, "-o", path, options->request.path,
	                                   upsample->corpus.file.format)
	                 : format_of_one(&options->common, "-o", path, "weights");
	if (status == STATUS_DONE) {
		upsample_count(upsample);
		upsample_choose_tokens(upsample);
		upsample_balance(upsample);
		if (upsample->plot)
			upsample_draw(upsample);
		upsample_write_all(upsample);
		status = upsample_finish(upsample);
	}
	upsample_release(upsample);
	return status;
}

#define TO(member) .offset = offsetof(struct upsample, member)
static const struct option_spec options[] = {
        {"count", "K", OPTION_WHOLE, .old_names = "top", TO(corpus_options.top), .least = 1, .most = HOLDERS_TOKENS_MAX,
         .group = OPTION_GROUP_HOW, .often = true},
        {"significant", NULL, OPTION_FLAG, TO(corpus_options.ranking.significant_first), .group = OPTION_GROUP_HOW},
        {"step", "F", OPTION_REAL, TO(step), .range = RANGE_ABOVE_TO, .to = 1, .group = OPTION_GROUP_HOW},
        {"iterations", "N", OPTION_WHOLE, TO(iterations), .least = 1, .most = ITERATIONS_MAX,
         .group = OPTION_GROUP_HOW},
        {"patience", "N", OPTION_WHOLE, TO(patience), .most = ITERATIONS_MAX, .group = OPTION_GROUP_HOW},
        {"pick", "conflict-free|uniform", OPTION_CHOICE, TO(pick), .choices = pick_names, .group = OPTION_GROUP_HOW},
        {"as-published", NULL, OPTION_FLAG, TO(as_published),
         .excludes = "pick iterations patience max-multiplicity prior", .group = OPTION_GROUP_HOW},
        {"max-multiplicity", "M", OPTION_WHOLE, TO(max_multiplicity), .least = 1, .most = UINT32_MAX,
         .group = OPTION_GROUP_HOW},
        {"seed", "N", OPTION_WHOLE, TO(seed), .most = INT64_MAX, .group = OPTION_GROUP_HOW},
        {"weights", "count|share", OPTION_CHOICE, TO(weights), .choices = weight_names, .group = OPTION_GROUP_OUTPUT,
         .often = true},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot), .often = true},
        {0},
};

static const struct upsample defaults = {
        .corpus_options = {CORPUS_OPTIONS_DEFAULT, .top = TOP},
        .weights = UPSAMPLE_RECORDS,
        .step = STEP,
        .iterations = ITERATIONS,
        .patience = NOT_GIVEN,
};

extern const struct help help_upsample;

const struct command upsample_command = {
        .name = "upsample",
        .operands = "DATA",
        .help = &help_upsample,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_JSON | COMMON_THREADS | COMMON_MEMORY | COMMON_STRICT |
                  COMMON_SCRIPT,
        .options = options,
        .base = corpus_option_table,
        .operand = "file",
        .least = 1,
        .most = 1,
        .request_size = sizeof(struct upsample),
        .takes_texts = true,
        .defaults = &defaults,
        .check = upsample_check,
        .run = upsample_run,
};
