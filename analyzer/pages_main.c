/* pages_main.c: a build-time program that prints man pages for scdoc: `pages` prints portolan(1), `pages NAME` the page
 * of a command. `pages --check` compares the help files with the tables of options, and fails where an option has no
 * help, or help is about no option. */
#include "base/message.h"
#include "commands/commands.h"
#include "options/help.h"
#include "options/options.h"

#include <portolan/portolan.h>

#include <stdio.h>
#include <string.h>

/* scdoc gives these a meaning: they are escaped. */
static void
pages_print_escaped(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '_' || text[i] == '*' || text[i] == '\\' || text[i] == '#' || text[i] == '~' ||
		    text[i] == '<')
			putchar('\\');
		putchar(text[i]);
	}
}

static void
pages_print_text(const char *text)
{
	pages_print_escaped(text, strlen(text));
}

static void
pages_print_option(const struct command *command, const struct option_spec *option)
{
	putchar('\n');
	if (option->letter)
		printf("*-%c*, ", option->letter);
	printf("*--%s*", option->name);
	if (option->argument) {
		fputs(" _", stdout);
		pages_print_text(option->argument);
		putchar('_');
	}
	fputs("\n\t", stdout);
	if (option->actions)
		help_print_actions(stdout, option->actions);
	pages_print_text(help_about(command, option)->text);
	if (option->old_names)
		printf(" (Also *--%s*.)", option->old_names);
	putchar('\n');
}

static void
pages_print_options(const struct command *command)
{
	const struct option_spec *option;

	for (int group = 1; group < OPTION_GROUPS; group++) {
		bool any = false;

		for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
			if (option_group(option) != (enum option_group)group)
				continue;
			if (!any)
				printf("\n## %s\n", option_group_names[group]);
			any = true;
			pages_print_option(command, option);
		}
	}
}

static void
pages_print_examples(const char *examples)
{
	bool comment = true;

	fputs("\n# EXAMPLES\n", stdout);
	while (*examples) {
		size_t bytes = strcspn(examples, "\n");

		fputs(comment ? "\n" : "\n\t", stdout);
		pages_print_escaped(examples, bytes);
		fputs(comment ? ":\n" : "\n", stdout);
		comment = !comment;
		examples += bytes + (examples[bytes] == '\n');
	}
}

static void
pages_print_command(const struct command *command)
{
	printf("portolan-%s(1) \"Portolan " PORTOLAN_VERSION "\"\n\n# NAME\n\nportolan-%s - ", command->name,
	       command->name);
	pages_print_text(command->help->summary);
	printf("\n\n# SYNOPSIS\n\n*portolan %s* %s [_OPTION_]...\n", command->name, command->operands);
	pages_print_examples(command->help->examples);
	fputs("\n# DESCRIPTION\n\n", stdout);
	pages_print_text(command->help->text);
	fputs("\n\n# OPTIONS\n", stdout);
	pages_print_options(command);
	fputs("\n# EXIT STATUS\n\n0 done, 1 failed, 2 wrong usage, 3 done but incomplete.\n\n# SEE "
	      "ALSO\n\n*portolan*(1)\n",
	      stdout);
}

static void
pages_print_overview(void)
{
	fputs("portolan(1) \"Portolan " PORTOLAN_VERSION
	      "\"\n\n# NAME\n\nportolan - reads recorded training dynamics: data maps, "
	      "measures, subsets\n\n# SYNOPSIS\n\n*portolan* _COMMAND_ [_OPTION_]...\n\n# COMMANDS\n",
	      stdout);
	for (size_t i = 0; command_table[i]; i++) {
		printf("\n*portolan-%s*(1)\n\t", command_table[i]->name);
		pages_print_text(command_table[i]->help->summary);
		putchar('\n');
	}
	fputs("\n# ENVIRONMENT\n\n*PORTOLAN\\_STORE*\n\tThe store to read where --store is not given.\n"
	      "\n*PAGER*\n\tThe program through which help goes that is longer than the terminal. Default: less.\n"
	      "\n*PORTOLAND*\n\tThe collector program that import, rm, backup, salvage and keygen hand over to.\n"
	      "\n# EXIT STATUS\n\n0 done, 1 failed, 2 wrong usage, 3 done but incomplete.\n"
	      "\n# SEE ALSO\n\n*portoland*(1)\n",
	      stdout);
}

/* Does any command show this help with an option? */
static bool
pages_show(const struct help_option *about)
{
	const struct option_spec *option;

	for (size_t c = 0; command_table[c]; c++)
		for (size_t i = 0; (option = option_at(command_table[c], i)) != NULL; i++)
			if (help_about(command_table[c], option) == about)
				return true;
	return false;
}

static int
pages_check(const struct command *command)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++)
		if (!help_about(command, option)) {
			message_error("the help file of %s has no section '### --%s'", command->name, option->name);
			return STATUS_FAILED;
		}
	for (const struct help *help = command->help; help; help = help->more)
		for (const struct help_option *about = help->options; about->name; about++)
			if (!pages_show(about)) {
				message_error("the help file of %s, or one that it links to, has a section '### --%s', "
				              "which is no option of it",
				              command->name, about->name);
				return STATUS_FAILED;
			}
	return STATUS_DONE;
}

int
main(int argc, char **argv)
{
	const struct command *command;
	int status = STATUS_DONE;

	if (argc < 2) {
		pages_print_overview();
	} else if (strcmp(argv[1], "--check") == 0) {
		for (size_t c = 0; command_table[c] && status == STATUS_DONE; c++)
			status = pages_check(command_table[c]);
		return status;
	} else if ((command = command_find(command_table, argv[1])) != NULL) {
		pages_print_command(command);
	} else {
		message_error("no command '%s'", argv[1]);
		return STATUS_USAGE;
	}
	return fflush(stdout) == 0 ? STATUS_DONE : STATUS_FAILED;
}
