/* select_output.h: writes the examples that `portolan select` has chosen into one output: ids, tables, arrays, or the
 * user's own lines. For select_files.c. */
#ifndef SELECT_OUTPUT_H
#define SELECT_OUTPUT_H

#include "select_request.h"

/* Writes the chosen examples (dense indices, in rank order) to `path` (NULL: standard output). STATUS_DONE;
 * STATUS_INCOMPLETE when ids are missing from the joined file, which is also said on stderr; STATUS_USAGE when the lines
 * of the joined file are not what the name of the output says, and nothing is written. */
int select_output(const struct select_request *request, const char *path, const struct dynamics *dynamics,
                  const uint32_t *chosen, size_t count);

#endif
