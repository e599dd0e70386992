/* survey.h: counts observations, and marks their examples, from the store's presences, before any is read. */
#ifndef DYNAMICS_SURVEY_H
#define DYNAMICS_SURVEY_H

#include "measures/dynamics.h"

/* Counts the observations in the run's epochs, of all examples, or of those that have a place (places.h; NULL: all), and
 * sums up the run's count and gaps as scan_run() does. `found`, by place, is set to 1 for those that were observed. */
int survey_run(struct dynamics *run, const uint32_t *places, uint8_t *found, uint64_t *observations,
               struct portolan_error *error);

#endif
