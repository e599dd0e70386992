/*
 * frame.h: prints one look at a run as a screen, a line, or a JSON object. Pure. Control characters in users' text
 * (names, messages) are shown as question marks.
 */
#ifndef FRAME_H
#define FRAME_H

#include "base/terminal.h"
#include "live.h"
#include "output/table.h"

#include <stdio.h>

struct frame_moment {
	const char *directory, *run;
	int64_t time;        /* seconds since 1970 */
	char clock[16];      /* "12:03:07" */
	double rate;         /* observations per second since the look before; NaN: not known yet */
	double idle;         /* seconds since anything changed */
	const char *trouble; /* the last look failed, and why; NULL: it did not */
};

/* Prints lines that each end with a newline, none longer than `columns` characters; returns how many. */
unsigned frame_screen(FILE *stream, const struct live_view *view, const struct frame_moment *moment,
                      const struct terminal_size *size);

/* One line. */
void frame_line(FILE *stream, const struct live_view *view, const struct frame_moment *moment);

/* A document. */
void frame_json(struct report *report, const struct live_view *view, const struct frame_moment *moment);

/* Warnings about the run's recording: one line each. */
#define FRAME_WARNINGS 14
#define FRAME_WARNING_ROOM FINDING_ROOM
unsigned frame_warnings(const struct live_view *view, const struct frame_moment *moment,
                        char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM]);

#endif
