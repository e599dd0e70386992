/*
 * command_line.c: reads the user's command line into the request of the command, by the table of its options
 * (options.h), and refuses what is wrong.
 *
 * Options may stand anywhere before "--", be cut short as far as that is unambiguous, and have their argument after "="
 * or in the next word; letters may be put together. Each value is checked when it is read. When all are read, operands
 * are checked, and options against one another. Then the files are claimed (output/claims.h), so that a command that
 * would overwrite its input fails before it reads or writes anything.
 */
#include "command_line.h"

#include "base/message.h"
#include "base/number.h"
#include "base/style.h"
#include "base/suggest.h"
#include "data_kept.h"
#include "help.h"
#include "output/claims.h"

#include <portolan/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MEMORY (UINT64_C(1) << 30)

static int
option_take_epochs(struct common_options *request, const char *text)
{
	request->query.epochs_given = true;
	request->query.epochs_auto = strcmp(text, "auto") == 0;
	if (request->query.epochs_auto) {
		request->query.epoch_from = 0;
		request->query.epoch_to = UINT32_MAX;
		return 0;
	}
	if (!run_query_parse_epochs(text, &request->query.epoch_from, &request->query.epoch_to))
		return options_wrong(request, "--epochs %s: say A:B, for epochs A to B-1; one epoch is A:A+1", text);
	if (request->query.epoch_from >= request->query.epoch_to)
		return options_wrong(request, "--epochs %s is empty: the end is not included", text);
	return 0;
}

static int
option_take_whole(const struct common_options *request, const struct option_spec *option, const char *text,
                  uint64_t *to)
{
	uint64_t value;

	if (number_parse_u64(text, strlen(text), &value) && value >= option->least &&
	    (option->most == 0 || value <= option->most)) {
		*to = value;
		return 0;
	}
	if (option->most == 0 || (option->most == INT64_MAX && strspn(text, "0123456789") < strlen(text)))
		return options_wrong(request, "--%s %s: a whole number from %llu", option->name, text,
		                     (unsigned long long)option->least);
	return options_wrong(request, "--%s %s: a whole number from %llu to %llu", option->name, text,
	                     (unsigned long long)option->least, (unsigned long long)option->most);
}

static int
option_take_real(const struct common_options *request, const struct option_spec *option, const char *text, double *to)
{
	static const char *const ranges[] = {
	        [RANGE_ANY] = "",
	        [RANGE_FROM_TO] = " from %g to %g",
	        [RANGE_ABOVE_TO] = " above %g, up to %g",
	        [RANGE_FROM_BELOW] = " from %g, and below %g",
	        [RANGE_BETWEEN] = " between %g and %g",
	};
	bool above = option->range == RANGE_ABOVE_TO || option->range == RANGE_BETWEEN;
	bool below = option->range == RANGE_FROM_BELOW || option->range == RANGE_BETWEEN;
	char range[64];
	double value;

	if (number_parse(text, &value) &&
	    (option->range == RANGE_ANY || ((above ? value > option->from : value >= option->from) &&
	                                    (below ? value < option->to : value <= option->to)))) {
		*to = value;
		return 0;
	}
	snprintf(range, sizeof(range), ranges[option->range], option->from, option->to);
	return options_wrong(request, "--%s %s: a number%s", option->name, text, range);
}

static int
option_take_size(const struct common_options *request, const struct option_spec *option, const char *text, uint64_t *to)
{
	bool in_mebibytes = option->least >= 1 << 20;
	unsigned long long least = in_mebibytes ? option->least >> 20 : option->least;
	uint64_t bytes;

	if (number_parse_size(text, &bytes) && bytes >= option->least) {
		*to = bytes;
		return 0;
	}
	return options_wrong(request, "--%s %s: say a size of at least %llu%s, as 512M or 2G", option->name, text,
	                     least, in_mebibytes ? "M" : "");
}

static int
option_take_choice(const struct common_options *request, const struct option_spec *option, const char *text, int *to)
{
	char label[OPTION_LABEL_ROOM];
	int choice = options_choice(request, option_label(option, label), text, option->choices);

	if (choice < 0)
		return STATUS_USAGE;
	*to = choice;
	return 0;
}

/* Puts the value of an option into the request; may cut up the text. 0, or the status of options_wrong(). */
static int
option_store(struct common_options *request, const struct option_spec *option, char *text)
{
	void *to = (char *)request + option->offset;

	if (option->take)
		return option->take(request, text);
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)to = true;
		return 0;
	case OPTION_WHOLE:
		return option_take_whole(request, option, text, to);
	case OPTION_REAL:
		return option_take_real(request, option, text, to);
	case OPTION_SIZE:
		return option_take_size(request, option, text, to);
	case OPTION_CHOICE:
		return option_take_choice(request, option, text, to);
	case OPTION_EPOCHS:
		return option_take_epochs(request, text);
	default:
		*(const char **)to = text;
		return 0;
	}
}

/* A command line that is being read: `at` is the next word. */
struct reading {
	struct common_options *request;
	const struct command *command;
	char **words;
	int count, at;
};

/* Takes option `index` with its argument. OPTIONS_READ: continue. */
static int
options_take(const struct reading *reading, size_t index, char *text)
{
	const struct option_spec *option = option_at(reading->command, index);
	struct common_options *request = reading->request;
	struct portolan_error error;
	char label[OPTION_LABEL_ROOM];
	int status;

	if (option->kind == OPTION_HELP)
		return help_short(reading->command, request->operand_count
		                                            ? command_action(reading->command, request->operands[0])
		                                            : NULL);
	if (request->given & UINT64_C(1) << index && option_is_named(option->excludes, option->name))
		return options_wrong(request, "--%s is given twice: say it once", option->name);
	request->given |= UINT64_C(1) << index;
	if (option->kind == OPTION_INPUT && claims_add_input(option_label(option, label), text, &error) < 0)
		return options_wrong(request, "%s", error.message);
	status = option_store(request, option, text);
	return status ? status : OPTIONS_READ;
}

/* Can the command print JSON lines, by --format? */
static bool
options_have_jsonl(const struct command *command)
{
	int format = options_find_name(command, "format", strlen("format"));
	const char *const *choices = format >= 0 ? option_at(command, (size_t)format)->choices : NULL;

	while (choices && *choices && strcmp(*choices, "jsonl") != 0)
		choices++;
	return choices && *choices;
}

static int
options_refuse_unknown(const struct reading *reading, const char *given, size_t length)
{
	const char *names[OPTIONS_MAX], *nearest;
	const struct option_spec *option;
	size_t count;
	char word[64];

	for (count = 0; (option = option_at(reading->command, count)) != NULL; count++)
		names[count] = option->name;
	snprintf(word, sizeof(word), "%.*s", (int)length, given);
	if (strcmp(word, "json") == 0 && options_have_jsonl(reading->command))
		return options_wrong(reading->request,
		                     "no option --json; for JSON, a line for each row: --format jsonl");
	nearest = suggest_nearest(word, names, count);
	return nearest ? options_wrong(reading->request, "no option --%s; did you mean --%s?", word, nearest)
	               : options_wrong(reading->request, "no option --%s", word);
}

/* Reads "name" or "name=argument" after two dashes. */
static int
options_read_name(struct reading *reading, char *name)
{
	size_t length = strcspn(name, "=");
	char *text = name[length] ? name + length + 1 : NULL;
	int index = options_find_name(reading->command, name, length);
	const struct option_spec *option;

	if (index < 0)
		return options_refuse_unknown(reading, name, length);
	option = option_at(reading->command, (size_t)index);
	if (text && !option->argument)
		return options_wrong(reading->request, "--%s: this option takes no argument", name);
	if (!text && option->argument && reading->at == reading->count)
		return options_wrong(reading->request, "--%s needs an argument", name);
	if (!text && option->argument)
		text = reading->words[reading->at++];
	return options_take(reading, (size_t)index, text);
}

/* Reads letters after one dash. What follows a letter that takes an argument is the argument. */
static int
options_read_letters(struct reading *reading, char *word)
{
	int status = OPTIONS_READ;

	for (char *letter = word + 1; *letter && status == OPTIONS_READ; letter++) {
		int index = options_find_letter(reading->command, *letter);

		if (index < 0)
			return options_wrong(reading->request, "no option %s", word);
		if (!option_at(reading->command, (size_t)index)->argument) {
			status = options_take(reading, (size_t)index, NULL);
			continue;
		}
		if (letter[1])
			return options_take(reading, (size_t)index, letter + 1);
		if (reading->at == reading->count)
			return options_wrong(reading->request, "%s needs an argument", word);
		return options_take(reading, (size_t)index, reading->words[reading->at++]);
	}
	return status;
}

/* Reads all words, and moves the operands to the front of them. */
static int
options_read_words(struct reading *reading)
{
	struct common_options *request = reading->request;
	int status = OPTIONS_READ;
	bool only_operands = false;

	request->operands = reading->words;
	while (reading->at < reading->count && status == OPTIONS_READ) {
		char *word = reading->words[reading->at++];

		if (only_operands || word[0] != '-' || word[1] == '\0')
			request->operands[request->operand_count++] = word;
		else if (strcmp(word, "--") == 0)
			only_operands = true;
		else
			status = word[1] == '-' ? options_read_name(reading, word + 2)
			                        : options_read_letters(reading, word);
	}
	return status;
}

static void
options_set_defaults(struct common_options *request, const struct command *command)
{
	const char *store = getenv("PORTOLAN_STORE");

	memset(request, 0, command->request_size);
	if (command->defaults)
		memcpy(request, command->defaults, command->request_size);
	*request = (struct common_options){
	        .command = command,
	        .query.store = store && *store ? store : "./portolan-store",
	        .query.epoch_to = UINT32_MAX,
	        .query.loss_threshold = NAN,
	        .query.max_memory = MAX_MEMORY,
	};
}

/* Takes the action from the operands, and checks how many others there are. 0, or the status of options_wrong(). */
static int
options_check_operands(struct common_options *request)
{
	const struct command *command = request->command;

	if (command->actions && request->operand_count == 0)
		return options_wrong(request, "which action? portolan %s %s", command->name, command->operands);
	if (command->actions) {
		request->action = options_choice(request, "action", request->operands[0], command->actions);
		if (request->action < 0)
			return STATUS_USAGE;
		request->operands++;
		request->operand_count--;
	}
	if (request->operand_count < command->least && command->actions)
		return options_wrong(request, "which %s? portolan %s %s%s", command->operand, command->name,
		                     command->actions[request->action], strchr(command->operands, ' '));
	if (request->operand_count < command->least)
		return options_wrong(request, "which %s? portolan %s %s", command->operand, command->name,
		                     command->operands);
	if (request->operand_count <= command->most)
		return 0;
	if (command->most == 0)
		return options_wrong(request, "takes no operand: '%s'", request->operands[0]);
	if (command->most == 1)
		return options_wrong(request, "one %s at a time: '%s' is one too many", command->operand,
		                     request->operands[1]);
	return options_wrong(request, "at most %d %ss at a time", command->most, command->operand);
}

/* Finds the first option, other than `self`, that is named in `words` and was given; NULL: none. */
static const char *
options_find_given(const struct common_options *request, const char *words, const struct option_spec *self)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL; i++)
		if (option != self && request->given & UINT64_C(1) << i && option_is_named(words, option->name))
			return option->name;
	return NULL;
}

/* Checks that one of the options that this one needs was given: "--mix needs --fraction F or --count N". */
static int
options_check_needs(const struct common_options *request, const struct option_spec *option)
{
	const struct option_spec *other;
	char text[256] = "";

	if (options_find_given(request, option->needs, option))
		return 0;
	for (size_t i = 0; (other = option_at(request->command, i)) != NULL; i++) {
		size_t used = strlen(text);

		if (option_is_named(option->needs, other->name))
			snprintf(text + used, sizeof(text) - used, "%s--%s%s%s", used ? " or " : "", other->name,
			         other->argument ? " " : "", other->argument ? other->argument : "");
	}
	return *text ? options_wrong(request, "--%s needs %s", option->name, text) : 0;
}

/* Checks an option, given or not, against the others and against the action. */
static int
options_check_option(const struct common_options *request, const struct option_spec *option, bool is_given)
{
	const char *action = request->command->actions ? request->command->actions[request->action] : "";
	bool taken = !option->actions || option_is_named(option->actions, action);
	const char *other = options_find_given(request, option->excludes, option);

	if (!is_given)
		return option->missing && taken ? options_wrong(request, "%s", option->missing) : 0;
	if (!taken)
		return options_wrong(request, "%s does not take --%s", action, option->name);
	if (other)
		return options_wrong(request, "--%s and --%s do not go together: leave one of them out", option->name,
		                     other);
	return options_check_needs(request, option);
}

static int
options_claim_store(const struct common_options *request, struct portolan_error *error)
{
	static const char *const files[] = {"data.mdb", "lock.mdb", "portoland.lock", "portoland.log"};
	int code = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && code >= 0; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", request->query.store, files[i]) < 0)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the name of the store");
		code = claims_add_input("the store's", path, error);
		free(path);
	}
	return code;
}

/* Claims the store, whether or not the command reads it, the operands that are files, and every output. The inputs that
 * options named were claimed before. */
static int
options_claim_files(const struct common_options *request)
{
	const struct command *command = request->command;
	const struct option_spec *option;
	struct portolan_error error;
	int code = options_claim_store(request, &error);

	for (int i = 0; i < request->operand_count && strcmp(command->operand, "file") == 0 && code >= 0; i++)
		code = claims_add_input("DATA", request->operands[i], &error);
	for (size_t i = 0; (option = option_at(command, i)) != NULL && code >= 0; i++) {
		const void *path = (const char *)request + option->offset;
		char label[OPTION_LABEL_ROOM];

		if (option->kind == OPTION_OUTPUT && request->given & UINT64_C(1) << i)
			code = claims_add_output(option_label(option, label), *(const char *const *)path, &error);
	}
	if (code >= 0 && command->common & COMMON_OUTPUT && !request->output)
		code = claims_add_output("the result", "-", &error);
	return code < 0 ? options_wrong(request, "%s", error.message) : 0;
}

/* Takes the action from the operands, claims the files, and checks options against one another. 0, or the status of
 * options_wrong(). The store is opened for the texts that it keeps only if no output is one of its files. */
static int
options_check(struct common_options *request)
{
	const struct option_spec *option;
	int status = options_check_operands(request) ?: options_claim_files(request) ?: options_keep_data(request);

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL && status == 0; i++)
		status = options_check_option(request, option, request->given & UINT64_C(1) << i);
	return status;
}

int
options_lead(int argc, char **argv)
{
	static const struct command any = {.common = COMMON_STORE};
	int at = 1;

	while (at < argc && argv[at][0] == '-' && argv[at][1]) {
		const char *word = argv[at];
		const char *equals = strchr(word, '=');
		const struct option_spec *option;

		for (size_t i = 0; (option = option_at(&any, i)) != NULL; i++) {
			size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);

			if (word[1] == '-'
			            ? strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0
			            : option->letter == word[1] && !word[2])
				break;
		}
		if (!option || option->kind == OPTION_HELP)
			return at;
		at += option->argument && !equals ? 2 : 1;
	}
	return at < argc ? at : 0;
}

int
options_read(const struct command *command, int argc, char **argv, void *request)
{
	struct reading reading = {request, command, argv + 2, argc - 2, 0};
	struct common_options *common = request;
	int status;

	claims_clear();
	options_set_defaults(common, command);
	status = options_read_words(&reading);
	if (status != OPTIONS_READ)
		return status;
	status = options_check(common);
	message_set_quiet(common->quiet);
	style_choose((enum style_when)common->styled);
	return status == 0 ? OPTIONS_READ : status;
}
