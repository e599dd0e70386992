/* main.c: the program portolan: finds the command and runs it. */
#include "base/message.h"
#include "commands/commands.h"
#include "files/content.h"
#include "options/command_line.h"
#include "options/help.h"
#include "options/options.h"

#include <portolan/portolan.h>
#include <portolan/start.h>
#include <portolan/store.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
main_refuse_command(const char *name)
{
	const char *nearest = command_nearest(command_table, name);

	if (name[0] == '-')
		message_error("'%s' is no option that may stand before a command (see: portolan help)", name);
	else if (nearest)
		message_error("no command '%s'; did you mean %s?", name, nearest);
	else
		message_error("no command '%s' (see: portolan help)", name);
	return STATUS_USAGE;
}

static int
main_finish_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return STATUS_DONE;
	message_error("cannot write standard output: %s", strerror(errno));
	return STATUS_FAILED;
}

static int
main_refuse_action(const struct command *command, const char *name)
{
	message_error(command->actions ? "%s has no action '%s' (see: portolan help %s)"
	                               : "%s has no actions: '%s' (see: portolan help %s)",
	              command->name, name, command->name);
	return STATUS_USAGE;
}

/* Of a command, and of an action of it; either may be NULL. */
static int
main_help(const char *name, const char *action)
{
	const struct command *command;

	if (!name || strcmp(name, "help") == 0 || strcmp(name, "version") == 0)
		return help_commands(command_table); /* which tells of these two */
	command = command_find(command_table, name);
	if (!command)
		return main_refuse_command(name);
	if (!action)
		return help_command(command, NULL);
	return command_action(command, action) ? help_command(command, action) : main_refuse_action(command, action);
}

/* Of what the words after "help" name; options between them change nothing. */
static int
main_help_of(int count, char **words)
{
	const char *names[2] = {NULL, NULL};

	for (int i = 0, found = 0; i < count && found < 2; i++)
		if (words[i][0] != '-')
			names[found++] = words[i];
	return main_help(names[0], names[1]);
}

/* Puts the name at `at` before the options that lead to it, which are then read with those behind it. */
static void
main_put_first(char **argv, int at)
{
	char *name = argv[at];

	for (; at > 1; at--)
		argv[at] = argv[at - 1];
	argv[1] = name;
}

int
main(int argc, char **argv)
{
	const int lead = options_lead(argc, argv);
	const struct command *command;
	const char *name;

	start_main();
	store_expect_short_file(content_take_bus_error);
	if (argc < 2) {
		help_overview(stderr, command_table);
		return STATUS_USAGE;
	}
	if (lead == 0) {
		message_error("no command is given (see: portolan help)");
		return STATUS_USAGE;
	}
	name = argv[lead];
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return main_help_of(argc - lead - 1, argv + lead + 1);
	if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("portolan " PORTOLAN_VERSION);
		return main_finish_stdout();
	}
	main_put_first(argv, lead);
	command = command_find(command_table, name);
	return command ? command_run(command, argc, argv) : main_refuse_command(name);
}
