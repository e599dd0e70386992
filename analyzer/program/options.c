/*
 * options.c: getopt_long() behind declarations.
 *
 * The table for getopt is made from the command's own options and the shared ones it takes, so what help shows is
 * what is accepted. getopt's messages are replaced: ours name the nearest option and where to look.
 */
#include "options.h"

#include "help.h"
#include "message.h"
#include "number.h"
#include "suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_STORE = 1000, KEY_JSON, KEY_STRICT, KEY_EPOCHS, KEY_THREADS, KEY_MEMORY, KEY_HELP };

#define MAX_MEMORY (UINT64_C(1) << 30)
#define MEMORY_LEAST (UINT64_C(16) << 20)
#define THREADS_MOST 1024u

static const struct {
	unsigned bit;
	struct command_option option;
} common_table[] = {
        {COMMON_EPOCHS,
         {"epochs", KEY_EPOCHS, "A:B", "Use epochs A to B−1, counted from 0; either side may be empty. Default: all."}},
        {COMMON_OUTPUT,
         {"output", 'o', "FILE", "Write to FILE instead of standard output. It appears when it is complete."}},
        {COMMON_JSON, {"json", KEY_JSON, NULL, "Print the report as JSON."}},
        {COMMON_STRICT,
         {"strict", KEY_STRICT, NULL, "Exit with status 3 where the result is incomplete, instead of only warning."}},
        {COMMON_THREADS,
         {"threads", KEY_THREADS, "N",
          "Work in N threads. Default: one for each core. The result does not depend on it."}},
        {COMMON_MEMORY,
         {"max-memory", KEY_MEMORY, "SIZE",
          "Take about so much memory of its own (anonymous) at most: 512M, 2G (default: 1G). What is held beyond that "
          "goes to temporary files in $TMPDIR, or else /var/tmp, which takes longer. The store's mapped pages are the "
          "system's cache, and do not count."}},
        {COMMON_STORE,
         {"store", KEY_STORE, "DIR", "The store's directory. Default: $PORTOLAN_STORE, or ./portolan-store."}},
        {~0u, {"help", KEY_HELP, NULL, "Show this help."}},
};

struct command_option
options_common(unsigned common, size_t index)
{
	for (size_t i = 0; i < sizeof(common_table) / sizeof(common_table[0]); i++)
		if ((common_table[i].bit == ~0u || common_table[i].bit & common) && index-- == 0)
			return common_table[i].option;
	return (struct command_option){0};
}

int
options_wrong(const struct command *command, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	message_error("%s: %s (see: portolan help %s)", command->name, text, command->name);
	return STATUS_USAGE;
}

static void
add_option(struct options *options, size_t *count, const struct command_option *option)
{
	size_t letters = strlen(options->letters);

	options->table[(*count)++] =
	        (struct option){option->name, option->argument ? required_argument : no_argument, NULL, option->key};
	if (option->key < OPTION_KEY) {
		options->letters[letters++] = (char)option->key;
		if (option->argument)
			options->letters[letters++] = ':';
	}
}

void
options_begin(struct options *options, const struct command *command, int argc, char **argv)
{
	const char *store = getenv("PORTOLAN_STORE");
	size_t count = 0;

	*options = (struct options){.command = command, .argc = argc, .argv = argv, .letters = ":h"};
	options->common = (struct common_options){
	        .store = store && *store ? store : "./portolan-store",
	        .epoch_to = UINT32_MAX,
	        .max_memory = MAX_MEMORY,
	};
	for (const struct command_option *option = command->options; option && option->name; option++)
		add_option(options, &count, option);
	for (size_t i = 0;; i++) {
		struct command_option option = options_common(command->common, i);

		if (!option.name)
			break;
		add_option(options, &count, &option);
	}
	optind = 0; /* glibc: start afresh */
	opterr = 0;
}

static int
stop(struct options *options, int status)
{
	options->status = status;
	return OPTIONS_STOP;
}

static bool
parse_epoch(const char *text, size_t length, uint32_t empty, uint32_t *epoch)
{
	uint64_t value;

	if (length == 0) {
		*epoch = empty;
		return true;
	}
	if (!number_parse_u64(text, length, &value) || value >= UINT32_MAX)
		return false;
	*epoch = (uint32_t)value;
	return true;
}

static int
set_epochs(struct options *options, const char *text)
{
	const char *colon = strchr(text, ':');
	struct common_options *common = &options->common;

	if (!colon || !parse_epoch(text, (size_t)(colon - text), 0, &common->epoch_from) ||
	    !parse_epoch(colon + 1, strlen(colon + 1), UINT32_MAX, &common->epoch_to))
		return options_wrong(options->command, "--epochs %s: say A:B, for epochs A to B-1; one epoch is A:A+1",
		                     text);
	if (common->epoch_from >= common->epoch_to)
		return options_wrong(options->command, "--epochs %s is empty: the end is not included", text);
	common->epochs_given = true;
	return 0;
}

/* The word with the unknown letter: getopt stays at it while letters are left, and is past it after the last. */
static const char *
word_of_letter(const struct options *options)
{
	const char *before = options->argv[optind - 1];

	return before[0] == '-' && before[1] != '-' && strchr(before, optopt) ? before : options->argv[optind];
}

static int
set_threads(struct options *options, const char *text)
{
	uint64_t threads;

	if (!number_parse_u64(text, strlen(text), &threads) || threads == 0 || threads > THREADS_MOST)
		return options_wrong(options->command, "--threads %s: say a number from 1 to %u", text, THREADS_MOST);
	options->common.threads = (unsigned)threads;
	return 0;
}

static int
set_memory(struct options *options, const char *text)
{
	if (!number_parse_size(text, &options->common.max_memory) || options->common.max_memory < MEMORY_LEAST)
		return options_wrong(options->command, "--max-memory %s: say a size of at least 16M, as 512M or 2G",
		                     text);
	return 0;
}

static int
unknown_option(struct options *options)
{
	const char *names[OPTIONS_MAX], *nearest, *given = options->argv[optind - 1];
	size_t count = 0;
	char word[64];

	if (optopt != 0 && optopt < OPTION_KEY) /* a byte of UTF-8 may come as a negative number */
		return options_wrong(options->command, "no option %s", word_of_letter(options));
	if (optopt != 0) /* a long option that takes no argument got one */
		return options_wrong(options->command, "%s: this option takes no argument", given);
	while (options->table[count].name) {
		names[count] = options->table[count].name;
		count++;
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(given + 2, "="), given + 2);
	nearest = suggest_nearest(word, names, count);
	return nearest ? options_wrong(options->command, "no option --%s; did you mean --%s?", word, nearest)
	               : options_wrong(options->command, "no option --%s", word);
}

/* Takes a shared option; the number to go on with, OPTIONS_STOP, or `key` itself when it is the command's own. */
static int
take_common(struct options *options, int key)
{
	switch (key) {
	case KEY_STORE:
		options->common.store = optarg;
		return 0;
	case 'o':
		options->common.output = optarg;
		return 0;
	case KEY_JSON:
		options->common.json = true;
		return 0;
	case KEY_STRICT:
		options->common.strict = true;
		return 0;
	case KEY_EPOCHS:
		return set_epochs(options, optarg) != 0 ? stop(options, STATUS_USAGE) : 0;
	case KEY_THREADS:
		return set_threads(options, optarg) != 0 ? stop(options, STATUS_USAGE) : 0;
	case KEY_MEMORY:
		return set_memory(options, optarg) != 0 ? stop(options, STATUS_USAGE) : 0;
	case KEY_HELP:
	case 'h':
		return stop(options, help_command(options->command));
	default:
		return key;
	}
}

int
options_next(struct options *options)
{
	int key;

	while ((key = getopt_long(options->argc, options->argv, options->letters, options->table, NULL)) != -1) {
		if (key == '?')
			return stop(options, unknown_option(options));
		if (key == ':') {
			options_wrong(options->command, "%s needs an argument", options->argv[optind - 1]);
			return stop(options, STATUS_USAGE);
		}
		options->argument = optarg;
		key = take_common(options, key);
		if (key != 0)
			return key;
	}
	options->operands = options->argv + optind;
	options->operand_count = options->argc - optind;
	return OPTIONS_END;
}

int
options_one_operand(const struct options *options, const char *what)
{
	if (options->operand_count == 0)
		return options_wrong(options->command, "which %s? portolan %s %s", what, options->command->name,
		                     options->command->operands);
	if (options->operand_count > 1)
		return options_wrong(options->command, "one %s at a time: '%s' is one too many", what,
		                     options->operands[1]);
	return 0;
}

int
options_choice(const struct command *command, const char *what, const char *text, const char *const *names,
               size_t count)
{
	const char *nearest;
	char all[256] = "";

	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(all);

		if (strcmp(text, names[i]) == 0)
			return (int)i;
		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", names[i]);
	}
	nearest = suggest_nearest(text, names, count);
	if (nearest)
		options_wrong(command, "no %s '%s'; did you mean %s?", what, text, nearest);
	else
		options_wrong(command, "no %s '%s'; there are: %s", what, text, all);
	return -1;
}

int
options_number(const struct command *command, const char *option, const char *text, uint64_t least, uint64_t most,
               uint64_t *number)
{
	if (number_parse_u64(text, strlen(text), number) && *number >= least && *number <= most)
		return 0;
	if (most == UINT64_MAX)
		return options_wrong(command, "%s %s: a whole number from %llu", option, text,
		                     (unsigned long long)least);
	return options_wrong(command, "%s %s: a whole number from %llu to %llu", option, text,
	                     (unsigned long long)least, (unsigned long long)most);
}
