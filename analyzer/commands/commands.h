/* commands.h: the subcommands, one file each. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "program/command.h"

extern const struct command runs_command;
extern const struct command artifacts_command;
extern const struct command backup_command;
extern const struct command check_command;
extern const struct command metrics_command;
extern const struct command map_command;
extern const struct command select_command;
extern const struct command noise_command;
extern const struct command compare_command;
extern const struct command groups_command;
extern const struct command aflite_command;
extern const struct command watch_command;
extern const struct command import_command;
extern const struct command rm_command;
extern const struct command keygen_command;
extern const struct command upsample_command;

#endif
