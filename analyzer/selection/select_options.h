/* select_options.h: the options of `portolan select`, and the checks that they go together; for select.c. */
#ifndef SELECT_OPTIONS_H
#define SELECT_OPTIONS_H

#include "select_request.h"

extern const struct option_spec select_option_table[];

/* The choices of --format: the first is SELECT_IDS, the others are those of table_format_names. */
extern const char *const select_format_names[];

/* The `check` of the command (options/command.h): refuses options that do not go together, and sets what follows from
 * the others. */
int select_check(void *request, struct portolan_error *error);

/* Checks the rules when the run's own columns are known. 0, or an exit status. */
int select_check_rules(struct select_request *request, const struct dynamics *dynamics);

#endif
