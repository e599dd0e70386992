/* data_kept.c: gives commands the texts that a run keeps where --data is not given, or names them (data_kept.h). */
#include "data_kept.h"

#include "base/message.h"
#include "files/content.h"
#include "files/kept_texts.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_MOST 8 /* fields that are shown where --text names none */

/* The member of an option that holds a text; NULL: the command has no such option, or it was given. */
static const char **
data_member(struct common_options *request, const char *name, uint64_t *bit, const struct option_spec **option)
{
	const int index = options_find_name(request->command, name, strlen(name));

	if (index < 0 || request->given & UINT64_C(1) << index)
		return NULL;
	*bit = UINT64_C(1) << index;
	*option = option_at(request->command, (size_t)index);
	return (const char **)((char *)request + (*option)->offset);
}

/* What an option that was given names; NULL: it was not given. */
static const char *
data_named(const struct common_options *request, int index)
{
	const size_t offset = option_at(request->command, (size_t)index)->offset;

	return request->given & UINT64_C(1) << index ? *(const char *const *)((const char *)request + offset) : NULL;
}

static void
data_set(struct common_options *request, const char *name, const char *value)
{
	const struct option_spec *option;
	uint64_t bit;
	const char **member = data_member(request, name, &bit, &option);

	if (!member)
		return;
	request->given |= bit;
	*member = value;
}

/* Has the command show all fields, unless --text names some. The text stays for as long as the program does. */
static void
data_show_all(struct common_options *request, const struct store_texts *texts)
{
	static char fields[SHOWN_MOST * (STORE_TEXT_NAME + 1) + 1];
	const struct option_spec *option;
	uint64_t bit;
	const char **member = data_member(request, "text", &bit, &option);
	char *to = fields;

	if (!member)
		return;
	for (size_t f = 0; f < texts->field_count && f < SHOWN_MOST; f++) {
		to = f > 0 ? stpcpy(to, ",") : to;
		to = stpcpy(to, texts->fields[f]);
	}
	request->given |= bit;
	if (option->take)
		(void)option->take(request, fields);
	else
		*member = fields;
}

/* Takes --data KEPT_TEXTS_NONE back, as though no --data were given and no texts were kept. A command that opens texts
 * itself does so. */
static void
data_refuse(struct common_options *request, size_t index)
{
	if (request->command->opens_texts && request->command->least == 0) {
		data_set(request, "id-field", KEPT_TEXTS_ID);
		return;
	}
	request->given &= ~(UINT64_C(1) << index);
	*(const char **)((char *)request + option_at(request->command, index)->offset) = NULL;
}

/* The option that names the data: --data, unless --sources-data names KEPT_TEXTS. -1: the command has neither. */
static int
data_option(const struct common_options *request)
{
	const struct command *command = request->command;
	const int sources = options_find_name(command, "sources-data", strlen("sources-data"));

	if (sources >= 0 && kept_texts_is(data_named(request, sources)))
		return sources;
	return options_find_name(command, "data", strlen("data"));
}

/* Finds the texts of the run, and makes the file of them, unless the command does. */
static int
data_find(const struct common_options *request, const char *run, struct store_texts *texts,
          struct portolan_error *error)
{
	*texts = (struct store_texts){0};
	if (request->command->opens_texts)
		return kept_texts_find(request->query.store, run, texts, error);
	return run ? kept_texts_open(request->query.store, run, NULL, texts, error) : 0;
}

/* Makes the file of the texts that the operand names, if it does. */
static int
data_keep_operand(struct common_options *request)
{
	const char *word = request->operands[0], *run = kept_texts_run(word);
	struct store_texts texts;
	struct portolan_error error = {0};

	if (!run && (kept_texts_is(word) || strcmp(word, KEPT_TEXTS_OF) == 0))
		return options_wrong(request, "%s: which run's? %sRUN", KEPT_TEXTS, KEPT_TEXTS_OF);
	if (!run)
		return 0;
	if (kept_texts_open(request->query.store, run, NULL, &texts, &error) < 0)
		return options_wrong(request, "%s: %s", word, error.message);
	if (texts.examples == 0)
		return options_wrong(request, "%s: the run keeps no texts: run.log_examples logs them", word);
	content_rename_lent(word);
	if (option_given(request, "run"))
		data_set(request, "id-field", KEPT_TEXTS_ID);
	return 0;
}

int
options_keep_data(struct common_options *request)
{
	const struct command *command = request->command;
	const int index = command->common & COMMON_STORE ? data_option(request) : -1;
	const bool is_by_run = command->opens_texts && command->least == 0; /* whichever run is asked about later */
	const char *run = request->operand_count > 0 && !is_by_run ? request->operands[0] : NULL;
	const char *data = index >= 0 ? data_named(request, index) : NULL;
	const bool given = data;
	struct store_texts texts;
	struct portolan_error error = {0};
	int code;

	if (command->takes_texts)
		return data_keep_operand(request);
	if (command->shows_texts && kept_texts_are_refused(data)) {
		data_refuse(request, (size_t)index);
		return 0;
	}
	if (index < 0 || (given ? !kept_texts_is(data) : !command->shows_texts))
		return 0;
	code = data_find(request, run, &texts, &error);
	if (given && code < 0 && !is_by_run)
		return options_wrong(request, "--%s " KEPT_TEXTS ": %s", option_at(command, (size_t)index)->name,
		                     error.message);
	if (given && texts.examples == 0 && !is_by_run)
		return options_wrong(request,
		                     "--%s " KEPT_TEXTS ": run '%s' keeps no texts: run.log_examples logs them",
		                     option_at(command, (size_t)index)->name, run ? run : "");
	if (code < 0 && code != STORE_E_NO_STORE && texts.examples > 0)
		message_warning("the texts of the run are not shown: %s", error.message);
	if (!given && (code < 0 || texts.examples == 0))
		return 0; /* what is wrong with the store, the command says */
	if (!given)
		data_set(request, "data", KEPT_TEXTS);
	data_set(request, "id-field", KEPT_TEXTS_ID);
	if (command->shows_texts && !is_by_run)
		data_show_all(request, &texts);
	return 0;
}
