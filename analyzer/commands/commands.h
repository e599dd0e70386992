/* commands.h: the table of all subcommands of portolan, for main(), the help and the completion; and command_run(), by
 * which main() runs one. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "options/command.h"

/* Each command is defined in the file that does its work. */
extern const struct command report_command, runs_command, check_command, metrics_command, dynamics_command,
        show_command, epochs_command, map_command, select_command, suspects_command, noise_command, triage_command,
        compare_command, groups_command, aflite_command, artifacts_command, upsample_command, watch_command,
        serve_command, import_command, rm_command, backup_command, salvage_command, keygen_command, completion_command;

extern const struct command *const command_table[]; /* in the order of the help; ends with NULL */

/* Reads the program's arguments (argv[1] is the command's name), and runs the command. Returns the exit status. */
int command_run(const struct command *command, int argc, char **argv);

#endif
