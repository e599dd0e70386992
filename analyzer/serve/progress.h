/* progress.h: tells the live page how far the recording of a run is, with the JSON that `portolan watch --json` prints.
 * Safe from several threads. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "open_stores.h"

struct progress;

/* `stores` keeps open the store in `directory`. Both stay the caller's. NULL: out of memory. */
struct progress *progress_new(struct open_stores *stores, const char *directory);
void progress_free(struct progress *progress);

/* Gives what a look at the run has seen, as JSON; *text is the caller's to free(). Looks at most every half second; in
 * between, gives the result of the last look again. STORE_E_NO_RUN: there is no such run. */
int progress_look(struct progress *progress, const char *run, char **text, struct portolan_error *error);

#endif
