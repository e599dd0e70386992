/*
 * progress.h: a progress bar on stderr: only in a terminal, and only when the work takes long enough to ask for one.
 *
 * The bar says how much is done, and for how long it has been at it; where the total is not known, that
 * alone. Each is for one thread of its caller's.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero: one that shows nothing. */
struct progress {
	struct progress_line *line;
};

/* After true, what is begun shows nothing, on a terminal neither. */
void progress_set_quiet(bool quiet);

/* `what`: "reading"; it lasts until progress_clear(). Total 0: it is not known. */
void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_show(struct progress *progress, uint64_t done);
void progress_hide(struct progress *progress); /* so that a line can be printed; it comes back */
/* Ends it, and wipes the bar: every progress that was begun. */
void progress_clear(struct progress *progress);

#endif
