/* region_list.h: the region of the data map of each example of a run. */
#ifndef REGION_LIST_H
#define REGION_LIST_H

#include "measures/dynamics.h"
#include "regions.h"

/* Lists the enum region of every observed example, by dense index; the caller's to free(). Without `cuts`, with the
 * run's own defaults. Needs confidence and variability. PORTOLAN_E_MEMORY. */
int region_list(const struct dynamics *dynamics, const struct region_cuts *cuts, uint8_t **regions,
                struct portolan_error *error);

/* The default cuts for a run, from its own variability, which must be loaded. PORTOLAN_E_MEMORY. */
int region_cuts_of(const struct dynamics *dynamics, struct region_cuts *cuts, struct portolan_error *error);

#endif
