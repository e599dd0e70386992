/* report_answers.c: answers the live page's requests for what other commands say of a run: `portolan report`
 * (GET api/report) and `portolan suspects` (GET api/suspects). The commands run in the background (background.h). */
#include "answers.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "files/kept_texts.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST 18

/* A command line, without the program. */
struct words {
	const char *list[WORDS_MOST + 1];
	size_t count;
	char threshold[NUMBER_ROOM];
};

static void
words_add(struct words *words, const char *word)
{
	words->list[words->count++] = word;
}

static void
words_add_option(struct words *words, const char *option, const char *value)
{
	if (!value)
		return;
	words_add(words, option);
	words_add(words, value);
}

/* The command about the run of the question, at the epochs of its view. A name that begins with "-" would be taken for
 * an option, unless it comes after all of them. */
static void
words_begin(struct words *words, const struct question *question, const char *command)
{
	const struct server_settings *settings = question->server->settings;
	const char *range = question->view->range;

	words_add(words, command);
	if (question->run[0] != '-')
		words_add(words, question->run);
	words_add_option(words, "--store", settings->names_store ? settings->query->store : NULL);
	words_add_option(words, "--epochs", *range ? range : NULL);
	if (strcmp(command, "report") == 0 && !isnan(settings->query->loss_threshold)) {
		number_print(settings->query->loss_threshold, words->threshold);
		words_add_option(words, "--loss-threshold", words->threshold);
	}
}

static int
words_ask(struct words *words, const struct question *question, struct http_answer *answer,
          struct portolan_error *error)
{
	struct background_question asked = {.words = words->list, .run = question->run};
	struct output *output = &question->report->output;
	uint64_t is_anew;
	bool is_made;
	int code = answer_number(question->request, "anew", 0, 1, 0, &is_anew, error);

	if (code < 0)
		return code;
	if (question->run[0] == '-') {
		words_add(words, "--");
		words_add(words, question->run);
	}
	asked.is_anew = is_anew;
	code = background_ask(question->server->background, &asked, question->report, &is_made, error);
	if (code < 0 || output_check(output, NULL) < 0)
		return code < 0 ? code : error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	http_bytes(answer, "application/json", output->buffer, output->used);
	answer->status = is_made ? 200 : 202;
	output->buffer = NULL;
	return 0;
}

/* The fields of the texts with commas between them, as --text takes them; the caller's to free(). NULL: out of memory. */
static char *
answer_join_texts(const struct server_settings *settings)
{
	size_t room = 1;
	char *joined, *end;

	for (size_t t = 0; t < settings->text_count; t++)
		room += strlen(settings->text_fields[t]) + 1;
	joined = end = malloc(room);
	if (!joined)
		return NULL;
	*end = '\0';
	for (size_t t = 0; t < settings->text_count; t++) {
		end = t > 0 ? stpcpy(end, ",") : end;
		end = stpcpy(end, settings->text_fields[t]);
	}
	return joined;
}

/* Does the report's command name the data? Not those that the run does not keep. */
static bool
answer_names_data(const struct question *question)
{
	const char *data = question->server->settings->data;

	if (!data || strcmp(data, "-") == 0)
		return false;
	return !kept_texts_is(data) || (question->data->texts && question->server->settings->text_count > 0);
}

int
answer_report(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	const struct server_settings *settings = question->server->settings;
	CLEANUP_FREE char *texts = answer_join_texts(settings);
	struct words words = {.count = 0};

	if (!texts)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	words_begin(&words, question, "report");
	/* standard input can be read once; and texts that a run keeps, `report` finds itself */
	if (answer_names_data(question)) {
		words_add_option(&words, "--data", settings->data);
		words_add_option(&words, "--id-field",
		                 kept_texts_are_refused(settings->data) ? NULL : settings->id_field);
		if (settings->glue)
			words_add(&words, "--glue");
		words_add_option(&words, "--text", *texts ? texts : NULL);
	}
	return words_ask(&words, question, answer, error);
}

int
answer_suspects(const struct question *question, struct http_answer *answer, struct portolan_error *error)
{
	struct words words = {.count = 0};

	words_begin(&words, question, "suspects");
	return words_ask(&words, question, answer, error);
}
