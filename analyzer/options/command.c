/* command.c: finds a command of `portolan` by its name, or the one that a mistyped name is nearest to, and finds a
 * command's actions (command.h). */
#include "command.h"

#include "base/suggest.h"

#include <string.h>

#define COMMANDS_MOST 64

const struct command *
command_find(const struct command *const *commands, const char *name)
{
	for (; *commands; commands++)
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	return NULL;
}

const char *
command_nearest(const struct command *const *commands, const char *name)
{
	const char *names[COMMANDS_MOST];
	size_t count = 0;

	for (; commands[count] && count < COMMANDS_MOST; count++)
		names[count] = commands[count]->name;
	return suggest_nearest(name, names, count);
}

const char *
command_action(const struct command *command, const char *name)
{
	for (const char *const *action = command->actions; action && *action; action++)
		if (strcmp(*action, name) == 0)
			return *action;
	return NULL;
}
