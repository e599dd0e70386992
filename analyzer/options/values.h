/* values.h: converts the argument of an option to a value of the option's kind. */
#ifndef OPTIONS_VALUES_H
#define OPTIONS_VALUES_H

#include "options.h"

/* Puts the value into the request; may cut up the text. 0, or the status of options_wrong(). */
int option_store(struct common_options *request, const struct option_spec *option, char *text);

#endif
