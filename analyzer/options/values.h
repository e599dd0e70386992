/* values.h: the argument of an option as the value that its kind says. */
#ifndef OPTIONS_VALUES_H
#define OPTIONS_VALUES_H

#include "options.h"

/* Puts it into the request; the text may be cut up. 0, or the status of options_wrong(). */
int option_store(struct common_options *request, const struct option_spec *option, char *text);

#endif
