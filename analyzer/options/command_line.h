/* command_line.h: reads the words of a command line into the struct of the command's options, its request; for main.c
 * and commands/commands.c. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "options.h"

/* Finds the command's name in a command line such as `portolan --store DIR runs`: the index of the first argument that
 * is none of the options that every command has. 0: there is none. */
int options_lead(int argc, char **argv);

enum { OPTIONS_READ = -1 };

/* Reads the arguments from argv[2] on into the request, which has command->request_size bytes. Returns OPTIONS_READ, or
 * the status to end with: the command line is wrong, which was reported, or help was asked for. */
int options_read(const struct command *command, int argc, char **argv, void *request);

#endif
