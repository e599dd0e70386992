/* progress.h: a progress bar on stderr: only in a terminal, and only when the work takes long enough to ask for one. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero: one that shows nothing. */
struct progress {
	const char *what; /* "reading" */
	uint64_t total;
	int64_t started; /* ms, monotonic */
	int percent;     /* shown; -1: nothing */
	bool enabled;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_show(struct progress *progress, uint64_t done);
/* Wipes the bar: at the end, or so that a line can be printed; the next progress_show() draws it again. */
void progress_clear(struct progress *progress);

#endif
