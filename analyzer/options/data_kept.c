/* data_kept.c: gives commands the texts that a run keeps where --data is not given, or names them (data_kept.h). */
#include "data_kept.h"

#include "base/message.h"
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

int
options_keep_data(struct common_options *request)
{
	const struct command *command = request->command;
	const int index = command->common & COMMON_STORE ? options_find_name(command, "data", strlen("data")) : -1;
	const char *run = request->operand_count > 0 ? request->operands[0] : NULL;
	const bool given = index >= 0 && request->given & UINT64_C(1) << index;
	const char *data = NULL;
	struct store_texts texts;
	struct portolan_error error = {0};
	int code;

	if (given)
		data = *(const char *const *)((const char *)request + option_at(command, (size_t)index)->offset);
	if (index < 0 || (given ? !kept_texts_is(data) : !command->shows_texts))
		return 0;
	code = kept_texts_open(request->query.store, run, &texts, &error);
	if (given && code < 0)
		return options_wrong(request, "--data " KEPT_TEXTS ": %s", error.message);
	if (given && texts.examples == 0)
		return options_wrong(request,
		                     "--data " KEPT_TEXTS ": run '%s' keeps no texts: run.log_examples logs them",
		                     run ? run : "");
	if (code < 0 && code != STORE_E_NO_STORE && texts.examples > 0)
		message_warning("the texts of the run are not shown: %s", error.message);
	if (code < 0 || texts.examples == 0)
		return 0; /* what is wrong with the store, the command says */
	data_set(request, "data", KEPT_TEXTS);
	data_set(request, "id-field", KEPT_TEXTS_ID);
	if (command->shows_texts)
		data_show_all(request, &texts);
	return 0;
}
