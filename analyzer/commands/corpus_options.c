/* corpus_options.c: see corpus_options.h. */
#include "corpus_options.h"

#include "program/message.h"
#include "program/number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIN_COUNT 1000
#define TOP_MAX 1000000

struct corpus_options
corpus_options_default(void)
{
	return (struct corpus_options){.request = {.min_length = 1, .ngrams = 1}, .ranking = {.min_count = MIN_COUNT}};
}

void
corpus_options_free(struct corpus_options *options)
{
	free(options->texts);
	options->texts = NULL;
}

/* A,B,C: different names. */
static int
take_texts(struct corpus_options *options, const struct command *command, const char *text)
{
	struct corpus_request *request = &options->request;

	free(options->texts);
	options->texts = strdup(text);
	request->text_count = 0;
	for (char *at = options->texts; at; request->text_count++) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma = '\0';
		if (!*at || request->text_count == CORPUS_TEXTS_MAX)
			return options_wrong(command, "--text %s: say A,B, at most %d fields", text, CORPUS_TEXTS_MAX);
		for (size_t i = 0; i < request->text_count; i++)
			if (strcmp(request->texts[i], at) == 0)
				return options_wrong(command, "--text %s: %s stands there twice", text, at);
		request->texts[request->text_count] = at;
		at = comma ? comma + 1 : NULL;
	}
	return 0;
}

static int
take_prior(struct corpus_options *options, const struct command *command, const char *text)
{
	static const char *const names[] = {"uniform", "share"};
	int choice = options_choice(command, "prior", text, names, 2);

	options->ranking.share = choice == 1;
	return choice < 0 ? STATUS_USAGE : 0;
}

static int
take_ngrams(struct corpus_options *options, const struct command *command, const char *text)
{
	uint64_t ngrams;
	int status = options_number(command, "--ngrams", text, 1, NGRAMS_MAX, &ngrams);

	options->request.ngrams = status ? 1 : (unsigned)ngrams;
	return status;
}

int
corpus_options_take(struct corpus_options *options, const struct command *command, int key, const char *text)
{
	struct corpus_request *request = &options->request;

	switch (key) {
	case KEY_TEXT:
		return take_texts(options, command, text);
	case KEY_LABEL:
		request->label = text;
		return 0;
	case KEY_MIN_COUNT:
		return options_number(command, "--min-count", text, 0, UINT64_MAX, &options->ranking.min_count);
	case KEY_MAX_COUNT:
		return options_number(command, "--max-count", text, 0, UINT64_MAX, &options->ranking.max_count);
	case KEY_TOP:
		return options_number(command, "--top", text, 1, TOP_MAX, &options->top);
	case KEY_PRIOR:
		return take_prior(options, command, text);
	case KEY_STOP_WORDS:
		request->stop_words = text;
		return 0;
	case KEY_MIN_LENGTH:
		return options_number(command, "--min-length", text, 1, TOKEN_MAX, &request->min_length);
	case KEY_NGRAMS:
		return take_ngrams(options, command, text);
	case KEY_PER_FIELD:
		request->per_field = true;
		return 0;
	default:
		request->tokens = text;
		return 0;
	}
}

int
corpus_options_check(struct corpus_options *options, const struct options *given)
{
	const struct command *command = given->command;

	if (options_one_operand(given, "file") != 0)
		return STATUS_USAGE;
	if (!options->request.text_count)
		return options_wrong(command, "which fields hold the texts? --text FIELD[,FIELD]");
	if (!options->request.label)
		return options_wrong(command, "which field holds the label? --label FIELD");
	if (options->request.tokens && (options->request.per_field || options->request.stop_words))
		return options_wrong(command, "--tokens says all: it goes without --per-field and --stop-words");
	if (options->ranking.max_count && options->ranking.max_count < options->ranking.min_count)
		return options_wrong(command, "--max-count %llu is below --min-count %llu",
		                     (unsigned long long)options->ranking.max_count,
		                     (unsigned long long)options->ranking.min_count);
	options->request.path = given->operands[0];
	options->request.threads = given->common.threads;
	return 0;
}

int
corpus_options_check_output(const struct corpus_options *options, const struct command *command, const char *option,
                            const char *output)
{
	struct stat data, other;

	if (!output || strcmp(output, "-") == 0 || strcmp(options->request.path, "-") == 0 ||
	    stat(options->request.path, &data) != 0 || stat(output, &other) != 0)
		return 0;
	if (!S_ISREG(data.st_mode) || data.st_dev != other.st_dev || data.st_ino != other.st_ino)
		return 0;
	return options_wrong(command, "%s %s is DATA itself, which would be lost: name another file", option, output);
}

static void
warn_of_none(const struct corpus_options *options, const struct token_counts *counts, const struct ranking *ranking)
{
	char most[NUMBER_ROOM], least[NUMBER_ROOM];

	number_print_grouped(ranking->most, most);
	number_print_grouped(options->ranking.min_count, least);
	if (counts->tokens.count == 0)
		message_warning("%s: there are no tokens to look at", options->request.path);
	else if (ranking->most < options->ranking.min_count)
		message_warning("%s: no token stands in %s records, the most frequent in %s: see --min-count",
		                options->request.path, least, most);
	else
		message_warning("%s: no token stands in so many records: see --min-count and --max-count",
		                options->request.path);
}

int
corpus_options_report(const struct corpus_options *options, const struct token_counts *counts,
                      const struct ranking *ranking, bool strict)
{
	char empty[NUMBER_ROOM];

	if (counts->empty > 0) {
		number_print_grouped(counts->empty, empty);
		message_warning("%s: records without any token: %s, the first on line %llu", options->request.path,
		                empty, (unsigned long long)counts->empty_line);
	}
	if (ranking->count == 0)
		warn_of_none(options, counts, ranking);
	return strict && (counts->empty > 0 || ranking->count == 0) ? STATUS_INCOMPLETE : STATUS_DONE;
}
