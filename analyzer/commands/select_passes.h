/* select_passes.h: portolan select from a run that is too long to be held in memory. */
#ifndef SELECT_PASSES_H
#define SELECT_PASSES_H

#include "select_options.h"

/* Without --join, lists and features, of one opened run: the same files. An exit status, or a negative code. */
int select_in_passes(const struct select_request *request, struct dynamics *run, struct portolan_error *error);

#endif
