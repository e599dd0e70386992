/* handover.h: commands that change a store belong to the collector: they hand over to portoland. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "command.h"

/* Replaces this process by portoland, whose arguments are those given, NULL at their end; the first is set to its name.
 * Returns STATUS_FAILED when there is none. */
int handover_become(char **arguments);

/* The same with the program's own arguments. For --help it prints the command's help instead and returns its status. */
int handover_to_collector(const struct command *command, char **argv);

#endif
