/*
 * progress.h: how far an import is: a bar in a terminal; nothing anywhere else.
 */
#ifndef COLLECTOR_PROGRESS_H
#define COLLECTOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *stream;
	uint64_t total;
	int shown; /* percent; -1: nothing yet */
	bool on;
};

void progress_begin(struct progress *progress, FILE *stream, uint64_t total);
void progress_show(struct progress *progress, uint64_t done);
/* Takes the bar away, so that a line can be printed; the next progress_show() draws it again. */
void progress_clear(struct progress *progress);

#endif
