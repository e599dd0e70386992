/*
 * progress.h: how far an import is: a bar on stderr if that is a terminal; nothing anywhere else.
 */
#ifndef COLLECTOR_PROGRESS_H
#define COLLECTOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t total;
	int shown; /* percent; -1: nothing */
	bool on;
};

void progress_begin(struct progress *progress, uint64_t total);
void progress_show(struct progress *progress, uint64_t done);
/* Takes the bar away, so that a line can be printed; the next progress_show() draws it again. */
void progress_clear(struct progress *progress);

#endif
