/*
 * completion.c: portolan completion: lets a shell complete a `portolan` command line when the user presses Tab. It
 * prints the scripts of three shells, and answers their question at each press: what may stand next on this line?
 *
 * The answer comes from the tables of the program itself, so it always fits the installed version, and the scripts hold
 * no lists of their own. Only the names of runs and of their columns are read from the store.
 */
#include "base/message.h"
#include "die/die.h"
#include "measures/dynamics.h"
#include "options/command.h"
#include "options/help.h"
#include "options/options.h"
#include "output/output.h"
#include "selection/selection.h"

#include <portolan/store.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for the command while none is given yet: has the options that may stand before a command's name. */
static const struct command leading = {.common = COMMON_STORE, .help = &help_options};

/* What has been read of the command line so far. */
struct line {
	const struct command *const *commands; /* all commands; NULL ends the list */
	const char *typed;                     /* a candidate must begin with this */
	const char *before;                    /* printed before each candidate: "--by=" */
	const char *store;
	const struct command *command;    /* NULL: not given, or there is no such command; `leading` */
	const char *action;               /* NULL: not given yet, or the command has none */
	int operands;                     /* how many were given, without the action */
	const char *run;                  /* the first operand, where it is a run's name; NULL: not given yet */
	const struct option_spec *option; /* the option whose argument the last word is; NULL: none */
	bool is_help;                     /* the command is `portolan help` */
	bool only_operands;               /* after "--" */
};

static void
candidates_offer(const struct line *line, const char *word, const char *help)
{
	if (strncmp(word, line->typed, strlen(line->typed)) != 0)
		return;
	printf("%s%s", line->before, word);
	if (help)
		printf("\t%.*s", (int)help_sentence(help), help);
	putchar('\n');
}

static void
candidates_offer_all(const struct line *line, const char *const *words)
{
	for (; words && *words; words++)
		candidates_offer(line, *words, NULL);
}

static void
candidates_offer_files(void)
{
	puts("\tfiles");
}

static void
candidates_offer_commands(const struct line *line)
{
	for (size_t i = 0; line->commands[i]; i++)
		candidates_offer(line, line->commands[i]->name, line->commands[i]->help->summary);
}

static void
candidates_offer_runs(const struct line *line)
{
	struct store_run_info *runs;
	struct store *store;
	size_t count;

	if (store_open(line->store, &store, NULL) < 0)
		return;
	if (store_runs(store, &runs, &count, NULL) >= 0) {
		for (size_t i = 0; i < count; i++)
			if (!strpbrk(runs[i].name, "\t\n"))
				candidates_offer(line, runs[i].name, NULL);
		free(runs);
	}
	store_close(store);
}

/* Offers a measure; or, to an option that takes a rule, the two rules by it: ascending and descending. */
static void
candidates_offer_measure(const struct line *line, const char *name)
{
	static const char *const ways[] = {"asc", "desc"};
	char rule[sizeof(((struct dynamics_column *)NULL)->name) + 8];

	if (strpbrk(name, "\t\n"))
		return;
	if (line->option->kind != OPTION_RULE)
		candidates_offer(line, name, NULL);
	for (size_t way = 0; line->option->kind == OPTION_RULE && way < 2; way++) {
		snprintf(rule, sizeof(rule), "%s:%s", name, ways[way]);
		candidates_offer(line, rule, NULL);
	}
}

/* Does the run have the measures by which the rule of this name ranks? */
static bool
candidates_have_measures(const struct dynamics *dynamics, const char *name)
{
	struct dynamics_request wanted = {0};
	struct selection_rule rule;
	bool has = selection_rule_parse(name, &rule);

	selection_rule_settle(&rule, dynamics);
	if (rule.kind == SELECT_MEASURE)
		return has && dynamics_column(dynamics, rule.measure);
	selection_rule_request(&rule, &wanted);
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (wanted.measures & MEASURE_BIT(i))
			has = has && dynamics_column(dynamics, measure_infos[i].name);
	return has;
}

/* Offers measures, after the named rules or the option's choices. If the line names a run that can be read, offers only
 * the measures that this run has, the user's own columns among them; else all measures. */
static void
candidates_offer_measures(const struct line *line)
{
	const struct run_query query = {.store = line->store, .epoch_to = UINT32_MAX, .loss_threshold = NAN};
	const struct dynamics_request request = {.measures = MEASURE_ALL, .user = true, .losses = true};
	bool of_rules = line->option->kind == OPTION_RULE, known;
	const char *const *words = of_rules ? selection_names : line->option->choices;
	struct portolan_error error;
	struct dynamics dynamics = {0};

	known = line->run && dynamics_open(&dynamics, &query, line->run, &request, &error) >= 0;
	for (; words && *words; words++)
		if (!known || !of_rules || candidates_have_measures(&dynamics, *words))
			candidates_offer(line, *words, NULL);
	for (size_t i = 0; i < (known ? dynamics.column_count : MEASURE_COUNT); i++)
		candidates_offer_measure(line, known ? dynamics.columns[i].name : measure_infos[i].name);
	if (known)
		dynamics_free(&dynamics);
}

static void
candidates_offer_arguments(const struct line *line, const struct option_spec *option)
{
	switch (option->kind) {
	case OPTION_CHOICE:
		candidates_offer_all(line, option->choices);
		break;
	case OPTION_RULE:
	case OPTION_MEASURE:
		candidates_offer_measures(line);
		break;
	case OPTION_RUN:
		candidates_offer_runs(line);
		break;
	case OPTION_INPUT:
	case OPTION_OUTPUT:
	case OPTION_FOLDER:
		candidates_offer_files();
		break;
	default:
		break;
	}
}

static void
candidates_offer_options(const struct line *line)
{
	const struct option_spec *option;
	char name[64];

	for (size_t i = 0; (option = option_at(line->command, i)) != NULL; i++) {
		if (!help_has_option(line->command, line->action, option))
			continue;
		snprintf(name, sizeof(name), "--%s", option->name);
		candidates_offer(line, name, help_about(line->command, option)->text);
	}
	if (line->command == &leading)
		candidates_offer(line, "--version", "Show the version.");
}

static void
candidates_offer_operands(const struct line *line)
{
	const struct command *command = line->command;

	if (command->actions && !line->action)
		candidates_offer_all(line, command->actions);
	else if (!command->operand || line->operands >= command->most)
		return;
	else if (strcmp(command->operand, "run") != 0)
		candidates_offer_files();
	else if (line->operands == 0 || strstr(command->operands, "RUN...")) /* in `show`, ids follow the run */
		candidates_offer_runs(line);
}

/* The option that `word` names; NULL: it names none. */
static const struct option_spec *
candidates_find_option(const struct command *command, const char *word)
{
	int index = word[1] == '-' ? options_find_name(command, word + 2, strcspn(word + 2, "="))
	                           : options_find_letter(command, word[strlen(word) - 1]);

	return index < 0 ? NULL : option_at(command, (size_t)index);
}

/* Reads words[at], which is not the last word, with its argument; returns how many words these are. */
static int
candidates_take_word(struct line *line, char *const *words, int at, int count)
{
	const char *word = words[at];
	const struct option_spec *option;

	if (line->only_operands || word[0] != '-' || word[1] == '\0') {
		if (line->command->actions && !line->action)
			line->action = word;
		else if (line->operands++ == 0 && line->command->operand && strcmp(line->command->operand, "run") == 0)
			line->run = word;
		return 1;
	}
	if (strcmp(word, "--") == 0) {
		line->only_operands = true;
		return 1;
	}
	option = candidates_find_option(line->command, word);
	if (!option || !option->argument)
		return 1;
	if (word[1] == '-' && strchr(word, '=')) {
		line->store = strcmp(option->name, "store") == 0 ? strchr(word, '=') + 1 : line->store;
		return 1;
	}
	if (at + 1 == count - 1)
		line->option = option;
	else if (strcmp(option->name, "store") == 0)
		line->store = words[at + 1];
	return 2;
}

/* Reads the options before the command, and the command; returns how many words these are. */
static int
candidates_take_command(struct line *line, char *const *words, int count)
{
	int at = 0;

	line->command = &leading;
	while (at < count - 1 && words[at][0] == '-')
		at += candidates_take_word(line, words, at, count);
	if (line->option || words[count - 1 > at ? at : count - 1][0] == '-')
		return at;
	line->command = NULL;
	if (at < count - 1 && strcmp(words[at], "help") == 0) {
		line->is_help = true;
		at++;
	}
	if (at < count - 1 && (line->command = command_find(line->commands, words[at++])) == NULL)
		return count; /* nothing can follow */
	return at;
}

/* Offers the candidates for the last word. In "--by=conf", an argument begins after the '='. */
static void
candidates_offer_last(struct line *line, const char *word)
{
	char before[128];
	const char *equals = strchr(word, '=');

	line->typed = word;
	if (line->option) {
		candidates_offer_arguments(line, line->option);
	} else if (line->only_operands || word[0] != '-') {
		candidates_offer_operands(line);
	} else if (!equals) {
		candidates_offer_options(line);
	} else if (word[1] == '-' && (line->option = candidates_find_option(line->command, word)) != NULL) {
		snprintf(before, sizeof(before), "%.*s", (int)(equals + 1 - word), word);
		line->before = before;
		line->typed = equals + 1;
		candidates_offer_arguments(line, line->option);
	}
}

/* Prints the candidates for the last of `words`, the words of a command line after the program's name. NULL ends the
 * list `commands`. Each candidate has a line: the candidate, and, if it has a description, a tab and the description. A
 * line that begins with a tab stands for names of files. Only candidates that begin with the last word are printed.
 * Runs are those of the store that the command line names, else of $PORTOLAN_STORE, else of ./portolan-store; a store
 * that cannot be read has none. */
static void
candidates_print(const struct command *const *commands, char *const *words, int count)
{
	const char *store = getenv("PORTOLAN_STORE");
	struct line line = {.commands = commands, .before = "", .store = store && *store ? store : "./portolan-store"};
	int at;

	if (count == 0)
		return;
	line.typed = words[count - 1];
	at = candidates_take_command(&line, words, count);
	if (!line.command && at == count - 1) {
		candidates_offer_commands(&line);
		candidates_offer(&line, "help", "show what a command does, and its options");
		candidates_offer(&line, "version", "show the version");
	}
	if (!line.command)
		return;
	if (line.is_help) {
		if (at == count - 1)
			candidates_offer_all(&line, line.command->actions);
		return;
	}
	while (at < count - 1)
		at += candidates_take_word(&line, words, at, count);
	candidates_offer_last(&line, words[count - 1]);
}

/* The files bash.sh, zsh.zsh and fish.fish of completion/, which are also installed. */
extern const char script_bash[], script_zsh[], script_fish[];

enum { ACTION_CANDIDATES = 3 };
static const char *const action_names[] = {"bash", "zsh", "fish", "candidates", NULL};
static const char *const scripts[] = {script_bash, script_zsh, script_fish};

static int
completion_check(void *context, struct portolan_error *error)
{
	const struct common_options *request = context;

	(void)error;
	if (request->action == ACTION_CANDIDATES || request->operand_count == 0)
		return 0;
	return options_wrong(request, "%s takes no operand: '%s'", action_names[request->action], request->operands[0]);
}

static int
completion_run(void *context, struct portolan_error *error)
{
	const struct common_options *request = context;
	struct output output;

	(void)error;
	if (request->action == ACTION_CANDIDATES) {
		candidates_print(request->commands, request->operands, request->operand_count);
		if (fflush(stdout) != 0)
			die("cannot write standard output: %s", strerror(errno));
		return STATUS_DONE;
	}
	must(output_open(&output, NULL, &failure));
	output_text(&output, scripts[request->action]);
	must(output_finish(&output, &failure));
	return STATUS_DONE;
}

extern const struct help help_completion;

const struct command completion_command = {
        .name = "completion",
        .operands = "bash|zsh|fish",
        .help = &help_completion,
        .actions = action_names,
        .operand = "word",
        .most = INT16_MAX,
        .request_size = sizeof(struct common_options),
        .check = completion_check,
        .run = completion_run,
};
