/* checks.h: a command line as a whole, once all its words are read. */
#ifndef OPTIONS_CHECKS_H
#define OPTIONS_CHECKS_H

#include "options.h"

/* Takes the action from the operands, and claims the files. 0, or the status of options_wrong(). */
int options_check(struct common_options *request);

/* Is `name` one of the words, which have spaces between them? NULL has none. */
bool option_is_named(const char *words, const char *name);

#endif
