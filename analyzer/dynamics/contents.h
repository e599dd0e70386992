/*
 * contents.h: for `portolan dynamics --contents`, which programs call that keep a copy of a run: what the run holds,
 * epoch by epoch. Each epoch has a text that changes when the epoch does, so that only changed epochs need be copied
 * again.
 */
#ifndef DYNAMICS_CONTENTS_H
#define DYNAMICS_CONTENTS_H

#include "measures/dynamics.h"
#include "output/report.h"

/*
 * Adds members to an object of a report:
 *
 *   store        32 hexadecimal digits: the store's id, which its copies keep
 *   run, number  its name, and its number in the store, which no other run ever has
 *   created      seconds since 1970
 *   state, mode  as `portolan runs` has them
 *   labels       the names of the classes
 *   ids          "integers" or "texts"
 *   largest_id   of integers
 *   columns      the signals recorded in the run's range of epochs
 *   epochs       a list: epoch; observations; state, a text that is another one when an observation of the epoch came, or
 *                the gold label of an example observed in it did
 *
 * `run` was opened with LAYOUT_COLUMNS as signals. A state may be newer than the run's snapshot: a program that then
 * opens the run again reads at least the observations that the state stands for.
 */
void contents_report(struct report *report, struct dynamics *run);

#endif
