/* progress.h: how far the recording of a run is: what `portolan watch --json` prints. Safe from several threads. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "views.h"

struct progress;

struct progress *progress_new(const char *directory); /* the store's, the caller's; NULL: out of memory */
void progress_free(struct progress *progress);

/* A look at the run, at most every half second; meanwhile what the last one saw. *text, JSON, is the caller's to
 * free(). A run that is not there is STORE_E_NO_RUN. */
int progress_look(struct progress *progress, struct views *views, const char *run, char **text,
                  struct portolan_error *error);

#endif
