/* progress.h: a progress bar on stderr: only in a terminal, and only when the work takes long enough to ask for one. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "reading" */
	uint64_t total;
	int64_t started; /* ms, monotonic */
	int percent;     /* shown; -1: nothing yet */
	bool enabled;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress); /* wipes it */

#endif
