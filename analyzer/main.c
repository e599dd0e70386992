/* main.c: the program portolan: finds the command and runs it. */
#include "program/command.h"
#include "files/mapping.h"
#include "options/help.h"
#include "options/options.h"
#include "program/message.h"

#include <portolan/portolan.h>
#include <portolan/store.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
wrong_command(const char *name)
{
	const char *nearest = command_nearest(name);

	if (nearest)
		message_error("no command '%s'; did you mean %s?", name, nearest);
	else
		message_error("no command '%s' (see: portolan help)", name);
	return STATUS_USAGE;
}

static int
finish_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return STATUS_DONE;
	message_error("cannot write standard output: %s", strerror(errno));
	return STATUS_FAILED;
}

static int
wrong_action(const struct command *command, const char *name)
{
	message_error(command->actions ? "%s has no action '%s' (see: portolan help %s)" : "%s has no actions: '%s' (see: portolan help %s)",
	              command->name, name, command->name);
	return STATUS_USAGE;
}

/* Of a command, and of an action of it; either may be NULL. */
static int
help(const char *name, const char *action)
{
	const struct command *command;

	if (!name)
		return help_commands();
	command = command_find(name);
	if (!command)
		return wrong_command(name);
	if (!action)
		return help_command(command, NULL);
	for (size_t i = 0; command->actions && command->actions[i]; i++)
		if (strcmp(command->actions[i], action) == 0)
			return help_command(command, action);
	return wrong_action(command, action);
}

/* The command's name, which changes places with the options before it: they are read as those behind it are. */
static const char *
take_command(int argc, char **argv)
{
	int at = options_lead(argc, argv);
	char *name = argv[at > 0 ? at : 1];

	for (; at > 1; at--)
		argv[at] = argv[at - 1];
	argv[1] = name;
	return name;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	store_expect_short_file(mapping_take_bus_error);
	if (!name) {
		help_overview(stderr);
		return STATUS_USAGE;
	}
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return help(argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("portolan " PORTOLAN_VERSION);
		return finish_stdout();
	}
	name = take_command(argc, argv);
	command = command_find(name);
	return command ? command_run(command, argc, argv) : wrong_command(name);
}
