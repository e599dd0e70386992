/*
 * fingerprints.h: tells the live page of which data runs were recorded (fingerprint/fingerprint.h), and whether the ids of
 * two runs seem to name other examples (fingerprint/other_labels.h).
 *
 * Both take a pass over the runs' ids and labels. The answer is kept, and found anew when a run has changed. Safe from
 * several threads; one answer is found at a time, and other callers wait for it.
 */
#ifndef FINGERPRINTS_H
#define FINGERPRINTS_H

#include "open_stores.h"

#include "output/report.h"

struct fingerprints;

/* `stores` stays the caller's. NULL: out of memory. */
struct fingerprints *fingerprints_new(struct open_stores *stores);
void fingerprints_free(struct fingerprints *fingerprints); /* NULL: does nothing */

/* Writes {"fingerprint"} of the run; with `other`, another run or NULL, also "other_fingerprint" and "warning", as
 * README.md says. A code of store.h. */
int fingerprints_report(struct fingerprints *fingerprints, const char *run, const char *other, struct report *report,
                        struct portolan_error *error);

#endif
