/* help.h: help texts, made from the table of commands. Return an exit status. */
#ifndef HELP_H
#define HELP_H

#include "program/command.h"

#include <stdio.h>

void help_overview(FILE *stream);
int help_command(const struct command *command); /* to standard output */

#endif
