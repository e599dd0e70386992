/* command_line.h: reads the words of a command line into the struct of the command's options, its request; for main.c
 * and commands/commands.c. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "options.h"

/* The index of the first argument that is none of the options that every command has, which is the command's name:
 * portolan --store DIR runs. 0: there is none. */
int options_lead(int argc, char **argv);

enum { OPTIONS_READ = -1 };

/* Reads the program's arguments, from argv[2] on, into the request, which has command->request_size bytes.
 * OPTIONS_READ, or the status to end with: the command line is wrong, which is reported, or help was asked for. */
int options_read(const struct command *command, int argc, char **argv, void *request);

#endif
