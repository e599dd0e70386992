/* handover.h: commands that change a store are the collector's: they hand over to portoland. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "command.h"

/* Replaces this process by `portoland ARGV...`; returns STATUS_FAILED when there is none. For --help it prints the
 * command's help instead and returns its status. */
int handover_to_collector(const struct command *command, int argc, char **argv);

#endif
