/* within_filters.h: applies the filters of a selection of the live page, one by one; for within.c, and for filters on
 * numbers in the user's own file. within.h says what a filter lets through. */
#ifndef WITHIN_FILTERS_H
#define WITHIN_FILTERS_H

#include "measures/dynamics.h"
#include "within_read.h"

/* Keeps those of the *count examples in kept[] (dense indices by ascending id) that pass the filter of `name`. Errors as
 * within_keep(). */
int within_keep_filter(const struct within *within, const struct dynamics *dynamics, const char *name,
                       const json_t *filter, uint32_t *kept, size_t *count, struct portolan_error *error);

/* The same by values[index], for a filter of numbers. PORTOLAN_E_MEMORY. */
int within_keep_numbers(const double *values, const json_t *filter, uint32_t *kept, size_t *count,
                        struct portolan_error *error);

/* The position of an id in the index, as a list of ids has it: a number or a text. −1: it is not there. */
int64_t within_find_id(const struct ids_index *index, const json_t *id);

/* The values of a measure or of a user's column, by dense index. NULL: PORTOLAN_E_INVALID, the run has none. */
const double *within_column(const struct within *within, const struct dynamics *dynamics, const char *name,
                            struct portolan_error *error);

#endif
