/* commands.c: the table of subcommands, in the order in which help shows them. */
#include "command.h"

#include "commands/commands.h"
#include "suggest.h"

#include <string.h>

const struct command *const command_table[] = {
        &runs_command,
        &check_command,
        &metrics_command,
        &map_command,
        &select_command,
        &noise_command,
        &compare_command,
        &groups_command,
        &aflite_command,
        &artifacts_command,
        &upsample_command,
        &watch_command,
        &import_command,
        &rm_command,
        &backup_command,
        &keygen_command,
        NULL,
};

#define COMMANDS (sizeof(command_table) / sizeof(command_table[0]) - 1)

const struct command *
command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(command_table[i]->name, name) == 0)
			return command_table[i];
	return NULL;
}

const char *
command_nearest(const char *name)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = command_table[i]->name;
	return suggest_nearest(name, names, COMMANDS);
}
