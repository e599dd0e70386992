/* handover.h: commands that change a store belong to the collector: they hand over to portoland. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include "options/command.h"

/* A command.run: replaces this process by portoland, with the command's options that were given and its one operand.
 * Returns STATUS_FAILED when there is no such program. */
int handover(void *request, struct portolan_error *error);

#endif
