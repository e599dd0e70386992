/*
 * help.c: prints the help of commands for people: examples first, because most readers look for these (help.h).
 *
 * `portolan COMMAND --help` is the short help, a screen of 24 lines by 80: examples, and each option in a few words, in
 * groups. If a command has more options than fit, the short help describes those that are marked as used often, and
 * names the others. `portolan help COMMAND` is the full text, like the man page. With an action both print only its
 * part. A text longer than the terminal goes through $PAGER.
 *
 * Paragraphs are broken at 80 columns here, so the tables hold plain text that the man pages can use too.
 */
#include "help.h"

#include "base/message.h"
#include "options.h"
#include "pager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80
#define LINES 23 /* lines of the short help: the last one of a screen is the prompt's */

/* Counts the columns that a UTF-8 text takes: its characters. */
static int
help_count_columns(const char *text, size_t bytes)
{
	int count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

/* Prints `text` broken between words, each line after the first begun by `indent` spaces; `column` is where it begins.
 */
static void
help_print_wrapped(FILE *stream, const char *text, int indent, int column)
{
	bool first = true;

	while (*text) {
		size_t bytes = strcspn(text, " \n");
		int width = help_count_columns(text, bytes);

		if (!first && column + 1 + width > WIDTH) {
			fprintf(stream, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', stream);
			column++;
		}
		fwrite(text, 1, bytes, stream);
		column += width;
		first = false;
		text += bytes;
		if (text[0] == '\n' && text[1] == '\n') {
			fprintf(stream, "\n\n%*s", indent, "");
			column = indent;
			first = true;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', stream);
}

/* The command and action that help is about. */
struct topic {
	const struct command *command;
	const char *action; /* NULL: the help is about all actions, or there are none */
	bool is_short;
	unsigned examples; /* how many examples the short help has at most, */
	bool is_often;     /* and whether it describes only options used often */
};

/* Is `word` the name of an action other than the topic's? Punctuation after it is ignored: "plan," is plan. */
static bool
help_is_of_other_action(const struct topic *topic, const char *word)
{
	size_t length = strcspn(word, " ,:");

	for (size_t i = 0; topic->action && topic->command->actions[i]; i++) {
		const char *name = topic->command->actions[i];

		if (strlen(name) == length && strncmp(name, word, length) == 0)
			return strcmp(name, topic->action) != 0;
	}
	return false;
}

const struct help_option *
help_about(const struct command *command, const struct option_spec *option)
{
	for (const struct help *help = command->help; help; help = help->more)
		for (const struct help_option *about = help->options; about->name; about++)
			if (strcmp(about->name, option->name) == 0)
				return about;
	return NULL;
}

bool
help_has_option(const struct command *command, const char *action, const struct option_spec *option)
{
	const struct option_spec *other;

	if (!action)
		return true;
	if (option->actions && !option_is_named(option->actions, action))
		return false;
	if (!option->needs)
		return true;
	for (size_t i = 0; (other = option_at(command, i)) != NULL; i++)
		if (option_is_named(option->needs, other->name) &&
		    (!other->actions || option_is_named(other->actions, action)))
			return true;
	return false;
}

void
help_print_actions(FILE *stream, const char *words)
{
	fputc('(', stream);
	for (; words && *words; words++)
		*words == ' ' ? fputs(", ", stream) : fputc(*words, stream);
	fputs(") ", stream);
}

size_t
help_sentence(const char *help)
{
	const char *end = strstr(help, ". ");
	size_t length = end ? (size_t)(end - help) : strlen(help);

	return length > 0 && help[length - 1] == '.' && !end ? length - 1 : length;
}

/* The length of a help text's first part: up to a full stop, a colon, a semicolon, or a bracket. */
static size_t
help_clause(const char *help)
{
	static const char *const ends[] = {". ", ": ", "; ", " ("};
	size_t length = help_sentence(help);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(help, ends[i]);

		if (end && (size_t)(end - help) < length)
			length = (size_t)(end - help);
	}
	return length;
}

/* Prints what the help says of an option: the actions that take it, its effect, and its old names. */
static void
help_print_about(FILE *stream, const struct topic *topic, const struct option_spec *option)
{
	const char *about = help_about(topic->command, option)->text;
	size_t length = topic->is_short ? help_clause(about) : strlen(about);

	if (option->actions && !topic->action)
		help_print_actions(stream, option->actions);
	fwrite(about, 1, length, stream);
	if (topic->is_short && option->kind == OPTION_CHOICE && !strchr(option->argument, '|'))
		for (size_t i = 0; option->choices[i]; i++)
			fprintf(stream, "%s%s", i ? ", " : ": ", option->choices[i]);
	if (!topic->is_short && option->old_names)
		fprintf(stream, " (Also --%s.)", option->old_names);
}

static void
help_print_option(FILE *stream, const struct topic *topic, const struct option_spec *option)
{
	const int column = topic->is_short ? 28 : 30;
	char left[64], *help = NULL;
	int used = snprintf(left, sizeof(left), option->letter ? "  -%c, " : "      ", option->letter);
	size_t size;
	FILE *text = open_memstream(&help, &size);

	snprintf(left + used, sizeof(left) - (size_t)used, "--%s%s%s", option->name, option->argument ? " " : "",
	         option->argument ? option->argument : "");
	if ((int)strlen(left) > column - 1)
		fprintf(stream, "%s\n%*s", left, column, "");
	else
		fprintf(stream, "%-*s", column, left);
	if (text) {
		help_print_about(text, topic, option);
		fclose(text);
	}
	help_print_wrapped(stream, text ? help : help_about(topic->command, option)->text, column, column);
	free(help);
}

/* Is the option only named, and not described? Options about resources are much the same in all commands. */
static bool
help_only_names(const struct topic *topic, const struct option_spec *option)
{
	return topic->is_short &&
	       (option_group(option) == OPTION_GROUP_RESOURCES || (topic->is_often && !option->often));
}

/* Prints the options of a group that are described, under its heading. */
static void
help_print_group(FILE *stream, const struct topic *topic, enum option_group group)
{
	const struct option_spec *option;
	bool any = false;

	for (size_t i = 0; (option = option_at(topic->command, i)) != NULL; i++) {
		if (option_group(option) != group || help_only_names(topic, option) ||
		    !help_has_option(topic->command, topic->action, option))
			continue;
		if (!any)
			fprintf(stream, "%s%s:\n", topic->is_often ? "" : "\n", option_group_names[group]);
		any = true;
		help_print_option(stream, topic, option);
	}
}

static void
help_print_name(FILE *stream, const struct option_spec *option)
{
	if (option->letter && !option->argument)
		fprintf(stream, " -%c", option->letter);
	else
		fprintf(stream, " --%s", option->name);
}

static void
help_print_names(FILE *stream, const struct topic *topic)
{
	const struct option_spec *option;
	char *names = NULL;
	size_t size;
	FILE *text = open_memstream(&names, &size);

	if (!text)
		return;
	fputs("Also:", text);
	for (size_t i = 0; (option = option_at(topic->command, i)) != NULL; i++)
		if (help_only_names(topic, option) && help_has_option(topic->command, topic->action, option))
			help_print_name(text, option);
	fclose(text);
	fputc('\n', stream);
	help_print_wrapped(stream, names, 2, 0);
	free(names);
}

/* Has the example's command line the topic's action? */
static bool
help_example_is_of(const struct topic *topic, const char *line)
{
	const char *word = line + strcspn(line, " "); /* "portolan" */

	word += strspn(word, " ");
	word += strcspn(word, " "); /* the command's name */
	return !help_is_of_other_action(topic, word + strspn(word, " "));
}

/* Finds where the next option, or the next program of a pipeline, begins, with the blank before it; "-" alone is a
 * file. NULL: none follows. */
static const char *
help_next_part(const char *line, size_t length)
{
	for (const char *at = line + 1; at + 2 < line + length; at++)
		if (at[0] == ' ' && ((at[1] == '-' && at[2] != ' ') || at[1] == '|'))
			return at;
	return NULL;
}

/* Prints a command line, broken before its options and pipes, such that a shell takes it. */
static void
help_print_command_line(FILE *stream, const char *line, size_t length)
{
	size_t column = 2;

	fputs("  ", stream);
	while (length > 0) {
		const char *next = help_next_part(line, length);
		size_t bytes = next ? (size_t)(next - line) : length;

		if (column > 2 && column + bytes + (next ? 2 : 0) > WIDTH) {
			fputs(" \\\n   ", stream);
			column = 3;
		}
		fwrite(line, 1, bytes, stream);
		column += bytes;
		line += bytes;
		length -= bytes;
	}
	fputc('\n', stream);
}

static void
help_print_examples(FILE *stream, const struct topic *topic)
{
	const char *at = topic->command->help->examples;
	unsigned count = 0;

	fputs("Examples:\n", stream);
	while (*at && !(topic->is_short && count == topic->examples)) {
		const char *line = at + strcspn(at, "\n") + 1;
		size_t bytes = strcspn(line, "\n");

		if (help_example_is_of(topic, line)) {
			fprintf(stream, "  # %.*s\n", (int)(line - at - 1), at);
			help_print_command_line(stream, line, bytes);
			count++;
		}
		at = line + bytes + (line[bytes] == '\n');
	}
}

/* Prints the paragraphs about the topic. One that begins with the name of an action belongs to that action. */
static void
help_print_paragraphs(FILE *stream, const struct topic *topic)
{
	const char *at = topic->command->help->text, *end;
	bool any = false;

	for (; *at; at = end + 2 * (*end == '\n')) {
		char *paragraph;

		end = strstr(at, "\n\n");
		end = end ? end : at + strlen(at);
		if (help_is_of_other_action(topic, at) || !(paragraph = strndup(at, (size_t)(end - at))))
			continue;
		if (any)
			fputc('\n', stream);
		any = true;
		help_print_wrapped(stream, paragraph, 0, 0);
		free(paragraph);
	}
}

static void
help_print_command(FILE *stream, const struct topic *topic)
{
	const struct command *command = topic->command;
	const char *operands = command->operands;

	help_print_examples(stream, topic);
	if (topic->action) {
		operands += strcspn(operands, " ");
		operands += *operands == ' ';
	}
	fprintf(stream, "\nUsage: portolan %s %s%s%s%s[OPTION]...\n", command->name, topic->action ? topic->action : "",
	        topic->action ? " " : "", operands, *operands ? " " : "");
	if (!topic->is_short) {
		fputc('\n', stream);
		help_print_paragraphs(stream, topic);
	}
	if (topic->is_often)
		fputc('\n', stream);
	for (int group = 1; group < OPTION_GROUPS; group++)
		help_print_group(stream, topic, (enum option_group)group);
	if (topic->is_short) {
		help_print_names(stream, topic);
		fprintf(stream, "portolan help %s%s%s says more.\n", command->name, topic->action ? " " : "",
		        topic->action ? topic->action : "");
	}
}

void
help_overview(FILE *stream, const struct command *const *commands)
{
	fputs("Examples:\n"
	      "  # the runs in the store\n"
	      "  portolan runs\n"
	      "  # draw the data map of a run\n"
	      "  portolan map snli/seed1 -o data-map.png\n"
	      "  # the third of the examples that the model finds ambiguous\n"
	      "  portolan select snli/seed1 --by ambiguous --fraction 0.33\n"
	      "\n"
	      "Usage: portolan COMMAND [OPTION]...\n"
	      "\n"
	      "Reads recorded training dynamics: data maps, measures, subsets.\n"
	      "\n"
	      "Commands:\n",
	      stream);
	for (size_t i = 0; commands[i]; i++)
		fprintf(stream, "  %-11s %s\n", commands[i]->name, commands[i]->help->summary);
	fputs("\n"
	      "portolan COMMAND --help shows a command's options, portolan help COMMAND all of\n"
	      "what it does, portolan help metrics what the measures are; portolan version\n"
	      "the version.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but incomplete.\n",
	      stream);
}

/* Composes the help of a topic, or, where that is NULL, the overview of `commands`, as a text for the caller to free().
 * NULL: out of memory. */
static char *
help_compose(const struct topic *topic, const struct command *const *commands, size_t *length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	if (!stream)
		return NULL;
	if (topic)
		help_print_command(stream, topic);
	else
		help_overview(stream, commands);
	fclose(stream);
	return text;
}

static int
help_show(char *text, size_t length)
{
	int code;

	if (!text) {
		message_error("out of memory");
		return STATUS_FAILED;
	}
	code = pager_show(text, length);
	free(text);
	if (code == 0)
		return STATUS_DONE;
	message_error("cannot write standard output: %s", strerror(errno));
	return STATUS_FAILED;
}

int
help_command(const struct command *command, const char *action)
{
	size_t length = 0;
	char *text = help_compose(&(struct topic){command, action}, NULL, &length);

	return help_show(text, length);
}

/* Prints the fullest version of the short help that fits a screen. */
int
help_short(const struct command *command, const char *action)
{
	static const struct {
		unsigned examples;
		bool is_often;
	} forms[] = {{2, false}, {1, false}, {2, true}, {1, true}};
	size_t length = 0, lines = LINES + 1;
	char *text = NULL;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && lines > LINES; i++) {
		free(text);
		text = help_compose(&(struct topic){command, action, true, forms[i].examples, forms[i].is_often}, NULL,
		                    &length);
		lines = text ? pager_lines(text, length, WIDTH) : 0;
	}
	return help_show(text, length);
}

int
help_commands(const struct command *const *commands)
{
	size_t length = 0;
	char *text = help_compose(NULL, commands, &length);

	return help_show(text, length);
}
