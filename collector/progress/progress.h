/*
 * progress.h: shows how far a long command is: a bar on stderr, only in a terminal, and only when the work takes long
 * enough to ask for one.
 *
 * The bar says how much of the work is done, and how many seconds it has taken; where the total is not known, only the
 * seconds. One thread of the caller owns a bar; any may call progress_show().
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A progress of zeros shows nothing. */
struct progress {
	struct progress_line *line;
};

/* After progress_set_quiet(true), bars show nothing, not even on a terminal. */
void progress_set_quiet(bool quiet);

/* `what` says what is done ("reading"), and is the caller's until progress_clear(). Total 0: not known. */
void progress_begin(struct progress *progress, const char *what, uint64_t total);
/* A number below one that was shown is passed over: it comes from a thread that was late. */
void progress_show(struct progress *progress, uint64_t done);
void progress_hide(struct progress *progress); /* so that a line can be printed; the bar comes back */
/* Wipes the bar and ends it. Each progress that was begun is to be ended. */
void progress_clear(struct progress *progress);

/* Wipes the bar that was begun last, for a program that is about to end: nothing draws the bar again. Any thread may
 * call it. */
void progress_end(void);

#endif
