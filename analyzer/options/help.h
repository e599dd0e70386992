/*
 * help.h: prints the help of a command, and the overview of all, from the descriptions of the commands (command.h). For
 * main.c, `help`, --help and the man pages. Functions that return an exit status print to standard output; on a
 * terminal, what is longer than it goes through $PAGER.
 */
#ifndef HELP_H
#define HELP_H

#include "options.h"

#include <stdio.h>

/* The overview of all commands. `commands` are all of them; NULL ends the list. */
void help_overview(FILE *stream, const struct command *const *commands);
int help_commands(const struct command *const *commands); /* the overview */

/* `action`: the help of this action alone; NULL: of the whole command. */
int help_command(const struct command *command, const char *action); /* the full text */
int help_short(const struct command *command, const char *action);   /* `portolan COMMAND --help` */

/* The paragraph about an option: that of the command, or else that of the options which commands share. NULL: there is
 * none. */
const struct help_option *help_about(const struct command *command, const struct option_spec *option);

/* Does the action take the option? It does not if the option needs one of another action. `action` NULL: does any? */
bool help_has_option(const struct command *command, const char *action, const struct option_spec *option);

/* Prints "(plan, fit) " for the words "plan fit". */
void help_print_actions(FILE *stream, const char *words);

/* The length of a help text's first sentence, without its full stop. */
size_t help_sentence(const char *help);

#endif
