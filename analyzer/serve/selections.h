/* selections.h: keeps the last selection of each run: made on the live page and read by programs, or the other way
 * round. Safe from several threads. */
#ifndef SELECTIONS_H
#define SELECTIONS_H

#include "output/report.h"

#include <jansson.h>
#include <stdint.h>

struct selections;

struct selections *selections_new(void); /* NULL: out of memory */
void selections_free(struct selections *selections);

/* Keeps a deep copy of the selection. Returns its serial number, which is 1 or more; 0: out of memory. */
uint64_t selections_put(struct selections *selections, const char *run, const json_t *selection);

/* The serial number of the selection last kept for the run; 0: there is none. */
uint64_t selections_serial(struct selections *selections, const char *run);

/* Writes {"serial": S, "selection": {…}} for the selection last kept for the run; 0 and null if there is none. */
void selections_report(struct report *report, struct selections *selections, const char *run);

#endif
