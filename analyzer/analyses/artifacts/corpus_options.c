/*
 * corpus_options.c: takes the options that `portolan artifacts` and `portolan upsample` share: the file, its fields,
 * and which tokens count. Afterwards it warns where these options may be wrong: of records without tokens, a ranking
 * without tokens, a field that may be no label.
 */
#include "corpus_options.h"

#include "base/message.h"
#include "base/number.h"

#include <string.h>

#define LABEL_SHOWN 60 /* bytes of a label that a warning names */

/* Takes the names A,B,C, which must differ. `option` gave them. */
static int
corpus_take_fields(struct corpus_options *options, const char *option, char *text)
{
	struct corpus_request *request = &options->request;

	request->text_count = options_split(text, CORPUS_TEXTS_MAX, request->texts);
	if (request->text_count == 0)
		return options_wrong(&options->common, "%s %s: say A,B, at most %d fields", option, text,
		                     CORPUS_TEXTS_MAX);
	for (size_t i = 0; i < request->text_count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(request->texts[i], request->texts[k]) == 0)
				return options_wrong(&options->common, "%s: %s stands there twice", option,
				                     request->texts[i]);
	return 0;
}

static int
corpus_take_texts(void *context, char *text)
{
	return corpus_take_fields(context, "--text", text);
}

static int
corpus_take_tokenized(void *context, char *text)
{
	struct corpus_options *options = context;

	options->request.tokenized = true;
	return corpus_take_fields(options, "--tokenized", text);
}

static int
corpus_take_ignored(void *context, char *text)
{
	struct corpus_options *options = context;
	struct corpus_request *request = &options->request;

	if (request->ignored_count == CORPUS_IGNORED_MAX)
		return options_wrong(&options->common, "--ignore-label: at most %d labels", CORPUS_IGNORED_MAX);
	request->ignored[request->ignored_count++] = text;
	return 0;
}

#define TO(member) .offset = offsetof(struct corpus_options, member)
const struct option_spec corpus_option_table[] = {
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = corpus_take_texts, .excludes = "tokenized", .often = true},
        {"tokenized", "FIELD[,FIELD]", OPTION_TEXT, .take = corpus_take_tokenized},
        {"label-field", "FIELD", OPTION_TEXT, TO(request.label), .old_names = "label",
         .missing = "which field holds the label? --label-field FIELD", .often = true},
        {"ignore-label", "VALUE", OPTION_TEXT, .take = corpus_take_ignored, .group = OPTION_GROUP_TAKE},
        {"min-count", "N", OPTION_WHOLE, TO(ranking.min_count), .group = OPTION_GROUP_HOW, .often = true},
        {"max-count", "N", OPTION_WHOLE, TO(ranking.max_count), .group = OPTION_GROUP_HOW},
        {"prior", "share|uniform", OPTION_CHOICE, TO(ranking.uniform), .choices = ranking_prior_names,
         .group = OPTION_GROUP_HOW},
        {"stop-words", "none|FILE", OPTION_INPUT, TO(request.stop_words)},
        {"min-length", "N", OPTION_WHOLE, TO(request.min_length), .least = 1, .most = TOKEN_MAX,
         .group = OPTION_GROUP_HOW},
        {"ngrams", "N", OPTION_WHOLE, TO(request.ngrams), .least = 1, .most = NGRAMS_MAX, .group = OPTION_GROUP_HOW},
        {"per-field", NULL, OPTION_FLAG, TO(request.per_field), .group = OPTION_GROUP_HOW},
        {"tokens", "FILE", OPTION_INPUT, TO(request.tokens), .excludes = "per-field stop-words"},
        {0},
};

int
corpus_options_check(struct corpus_options *options)
{
	struct ranking_request *ranking = &options->ranking;

	if (options->request.text_count == 0)
		return options_wrong(&options->common, "which fields hold the texts? --text FIELD[,FIELD]; or "
		                                       "--tokenized FIELD[,FIELD] for lists of tokens");
	if (options->request.tokens && !option_given(&options->common, "min-count"))
		ranking->min_count = 1;
	if (ranking->max_count && ranking->max_count < ranking->min_count)
		return options_wrong(&options->common, "--max-count %llu is below --min-count %llu",
		                     (unsigned long long)ranking->max_count, (unsigned long long)ranking->min_count);
	options->request.path = options->common.operands[0];
	options->request.threads = (unsigned)options->common.query.threads;
	return 0;
}

static void
corpus_warn_of_none(const struct corpus_options *options, const struct token_counts *counts,
                    const struct ranking *ranking)
{
	if (counts->tokens.count == 0)
		message_warning("%s: there are no tokens to look at", options->request.path);
	else if (ranking->most < options->ranking.min_count)
		message_warning("%s: no token stands in %s records, the most frequent in %s: see --min-count",
		                options->request.path, NUMBER_GROUPED(options->ranking.min_count),
		                NUMBER_GROUPED(ranking->most));
	else
		message_warning("%s: no token stands in so many records: see --min-count and --max-count",
		                options->request.path);
}

/* Finds a label that may stand for "no label": it is "-"; or, among three labels or more, it has less than a tenth of
 * the records that an equal share would be. Returns its place in the order; NAMES_NONE: there is none. */
static uint32_t
corpus_find_suspect(const struct token_counts *counts)
{
	uint64_t all = counts->records - counts->ignored;
	uint32_t least = 0;

	for (uint32_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *text = counts_label(counts, l, &length);

		if (length == 1 && *text == '-')
			return l;
		least = counts->label_records[l] < counts->label_records[least] ? l : least;
	}
	return counts->label_count > 2 && 10 * counts->label_count * counts->label_records[least] < all ? least
	                                                                                                : NAMES_NONE;
}

static void
corpus_warn_of_suspect(const struct corpus_options *options, const struct token_counts *counts)
{
	uint32_t suspect = corpus_find_suspect(counts);
	size_t length;
	const char *text;

	if (suspect == NAMES_NONE)
		return;
	text = counts_label(counts, suspect, &length);
	length = length < LABEL_SHOWN ? length : LABEL_SHOWN;
	message_warning(
	        "%s: the label '%.*s' counts as a class, with %s of %s records: if it means that they have none, say --ignore-label %.*s",
	        options->request.path, (int)length, text, NUMBER_GROUPED(counts->label_records[suspect]),
	        NUMBER_GROUPED(counts->records - counts->ignored), (int)length, text);
}

int
corpus_options_report(const struct corpus_options *options, const struct token_counts *counts,
                      const struct ranking *ranking)
{
	if (counts->empty > 0)
		message_warning("%s: records without any token: %s, the first on line %llu", options->request.path,
		                NUMBER_GROUPED(counts->empty), (unsigned long long)counts->empty_line);
	if (ranking->count == 0)
		corpus_warn_of_none(options, counts, ranking);
	corpus_warn_of_suspect(options, counts);
	if (options->request.ignored_count > 0 && counts->ignored == 0)
		message_warning("%s: no record has a label that --ignore-label names", options->request.path);
	return options->common.strict && (counts->empty > 0 || ranking->count == 0) ? STATUS_INCOMPLETE : STATUS_DONE;
}
