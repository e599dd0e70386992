/* run_report.h: describes runs in a report, one or all: name, state, mode, times, counters. For `portolan runs --json`
 * and for the live page's server. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "output/report.h"

#include <portolan/store.h>

/* Adds one run, as an object of a list, or as the document. A run that is found to be damaged is marked so, with only
 * its name and state. A run that was removed meanwhile is left out. `fingerprint` is the run's, empty if it is not
 * known; NULL: there is to be none. */
int run_report(struct report *report, struct store *store, struct store_run_info *run, const char *fingerprint,
               struct portolan_error *error);

/* Adds the run with a name; or all runs, as a list. */
int run_report_one(struct report *report, struct store *store, const char *name, struct portolan_error *error);
int run_report_all(struct report *report, struct store *store, struct portolan_error *error);

/* Prints a time as "2026-11-22T10:00:00Z"; nothing if it is no time that can be written so. */
void run_time(int64_t seconds, char text[32]);
const char *run_state_name(const struct store_run_info *run);
const char *run_mode_name(const struct store_run_info *run);
const char *run_kind_name(const struct store_run_info *run); /* what it records; NULL: nothing yet */

/* Writes the member "texts", if the run keeps texts or some were refused: of how many examples, their fields, and the
 * texts refused. */
int run_report_texts(struct report *report, struct store *store, uint32_t run, struct portolan_error *error);

#endif
