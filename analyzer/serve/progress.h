/* progress.h: tells the live page how far the recording of a run is, with the JSON that `portolan watch --json` prints.
 * Safe from several threads. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "open_stores.h"

struct progress;

/* `stores` is that of the directory; both stay the caller's. NULL: out of memory. */
struct progress *progress_new(struct open_stores *stores, const char *directory);
void progress_free(struct progress *progress);

/* Looks at the run at most every half second; in between returns the result of the last look. *text, JSON, is the
 * caller's to free(). STORE_E_NO_RUN: the run is not there. */
int progress_look(struct progress *progress, const char *run, char **text, struct portolan_error *error);

#endif
