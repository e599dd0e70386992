/*
 * options.c: reads a command line by the typed table of its command.
 *
 * Options may stand anywhere before "--", be cut short as far as that is unambiguous, and have their argument after "="
 * or in the next word; letters may be put together. Each value is checked when it is read (values.c); options are
 * checked against one another when all are read (checks.c).
 */
#include "options.h"

#include "base/message.h"
#include "base/style.h"
#include "base/suggest.h"
#include "checks.h"
#include "help.h"
#include "measures/measures.h"
#include "output/claims.h"
#include "values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MEMORY (UINT64_C(1) << 30)
#define MEMORY_LEAST (UINT64_C(16) << 20)
#define THREADS_MOST 1024
#define ANY (~0u) /* commands take it */

#define TO(member) .offset = offsetof(struct common_options, member)
static const struct {
	unsigned commands;
	struct option_spec option;
} shared[] = {
        {COMMON_EPOCHS, {"epochs", "A:B", OPTION_EPOCHS}},
        {COMMON_WINDOW, {"window", "J", OPTION_WHOLE, TO(query.window), .least = 2, .most = MEASURES_WINDOW_MAX}},
        {COMMON_OUTPUT, {"output", "FILE", OPTION_OUTPUT, TO(output), 'o', .often = true}},
        {COMMON_JSON, {"json", NULL, OPTION_FLAG, TO(json), .group = OPTION_GROUP_OUTPUT}},
        {COMMON_STRICT, {"strict", NULL, OPTION_FLAG, TO(strict), .group = OPTION_GROUP_RESOURCES}},
        {COMMON_THREADS,
         {"threads", "N", OPTION_WHOLE, TO(query.threads), .least = 1, .most = THREADS_MOST,
          .group = OPTION_GROUP_RESOURCES}},
        {COMMON_MEMORY,
         {"max-memory", "SIZE", OPTION_SIZE, TO(query.max_memory), .least = MEMORY_LEAST,
          .group = OPTION_GROUP_RESOURCES}},
        {COMMON_SCRIPT,
         {"script", NULL, OPTION_FLAG, TO(script), .needs = "plot plot-epochs", .group = OPTION_GROUP_OUTPUT}},
        {COMMON_STORE, {"store", "DIR", OPTION_FOLDER, TO(query.store)}},
        {ANY, {"quiet", NULL, OPTION_FLAG, TO(quiet), 'q', .group = OPTION_GROUP_RESOURCES}},
        {ANY, {"verbose", NULL, OPTION_FLAG, TO(verbose), 'v', .group = OPTION_GROUP_RESOURCES}},
        {ANY,
         {"styled", "WHEN", OPTION_CHOICE, TO(styled), .choices = style_when_names, .group = OPTION_GROUP_RESOURCES}},
        {ANY, {"help", NULL, OPTION_HELP, .letter = 'h', .group = OPTION_GROUP_RESOURCES}},
};
#undef TO

const struct option_spec *
option_at(const struct command *command, size_t index)
{
	const struct option_spec *const tables[] = {command->base, command->options};

	for (size_t t = 0; t < 2; t++)
		for (const struct option_spec *option = tables[t]; option && option->name; option++)
			if (index-- == 0)
				return option;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if ((shared[i].commands == ANY || shared[i].commands & command->common) && index-- == 0)
			return &shared[i].option;
	return NULL;
}

const char *const option_group_names[OPTION_GROUPS] = {
        [OPTION_GROUP_TAKE] = "What to take",   [OPTION_GROUP_HOW] = "How",
        [OPTION_GROUP_OUTPUT] = "Output",       [OPTION_GROUP_ACCESS] = "Access",
        [OPTION_GROUP_RESOURCES] = "Resources",
};

enum option_group
option_group(const struct option_spec *option)
{
	if (option->group != OPTION_GROUP_BY_KIND)
		return option->group;
	return option->kind == OPTION_OUTPUT ? OPTION_GROUP_OUTPUT : OPTION_GROUP_TAKE;
}

int
options_wrong(const struct common_options *request, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	message_error("%s: %s (see: portolan help %s)", request->command->name, text, request->command->name);
	return STATUS_USAGE;
}

const char *
option_label(const struct option_spec *option, char label[OPTION_LABEL_ROOM])
{
	if (option->letter == 'o')
		return "-o";
	snprintf(label, OPTION_LABEL_ROOM, "--%s", option->name);
	return label;
}

bool
option_given(const struct common_options *request, const char *name)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(request->command, i)) != NULL; i++)
		if (strcmp(option->name, name) == 0 && request->given & UINT64_C(1) << i)
			return true;
	return false;
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

/* Looks among the options' names, or among their old names. *matches: how many begin with the text. */
static int
options_find_among(const struct command *command, const char *name, size_t length, bool old, int *matches)
{
	const struct option_spec *option;
	int found = -1;

	*matches = 0;
	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
		const char *words = old ? option->old_names : option->name;
		bool begins = false;

		for (; words && *words; words += strcspn(words, " "), words += *words == ' ') {
			if (strncmp(words, name, length) != 0)
				continue;
			if (words[length] == '\0' || words[length] == ' ') {
				*matches = 1;
				return (int)i;
			}
			begins = true;
		}
		if (begins) {
			found = (int)i;
			++*matches;
		}
	}
	return found;
}

int
options_find_name(const struct command *command, const char *name, size_t length)
{
	int matches, found = options_find_among(command, name, length, false, &matches);
	int old_matches, old = options_find_among(command, name, length, true, &old_matches);
	const struct option_spec *was = old >= 0 ? option_at(command, (size_t)old) : NULL;

	if (matches == 1 && strlen(option_at(command, (size_t)found)->name) == length)
		return found;
	if (was && option_is_named(was->old_names, strndupa(name, length)))
		return old;
	return matches == 1 ? found : matches == 0 && old_matches == 1 ? old : -1;
}

int
options_find_letter(const struct command *command, char letter)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++)
		if (option->letter == letter)
			return (int)i;
	return -1;
}

/* Does the command print JSON lines, as a format of its table? */
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

/* "name", "name=argument" after two dashes. */
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

/* Letters after one dash; what follows a letter that takes an argument is the argument. */
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

/* All words; the operands are moved to the front of them. */
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
	        .query.max_memory = MAX_MEMORY,
	};
}

int
options_lead(int argc, char **argv)
{
	int at = 1;

	while (at < argc && argv[at][0] == '-' && argv[at][1]) {
		const char *word = argv[at];
		const char *equals = strchr(word, '=');
		const struct option_spec *option = NULL;

		for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]) && !option; i++) {
			const struct option_spec *one = &shared[i].option;
			size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);

			if (shared[i].commands != ANY && shared[i].commands != COMMON_STORE)
				continue;
			if (word[1] == '-' ? strlen(one->name) == length && strncmp(one->name, word + 2, length) == 0
			                   : one->letter == word[1] && !word[2])
				option = one;
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
