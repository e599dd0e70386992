/*
 * frame.h: shows one look at a run (live.h): as a screen or a line, for portolan watch, or as a JSON object, for
 * portolan watch and the live page. Pure. Control characters in users' text (names, messages) are shown as question
 * marks.
 */
#ifndef FRAME_H
#define FRAME_H

#include "base/terminal.h"
#include "live.h"
#include "output/table.h"

#include <stdio.h>

/* When and how a look was made. */
struct frame_moment {
	const char *directory, *run;
	int64_t time;        /* seconds since 1970 */
	char clock[16];      /* "12:03:07" */
	double rate;         /* observations per second since the look before; NaN: not known yet */
	double idle;         /* seconds since anything changed */
	const char *trouble; /* why the last look failed; NULL: it did not */
};

extern const char *const frame_states[]; /* the names that users read, by enum live_state */

/* What is needed to compute the pace of the recording, kept from look to look. Begins as {0}. */
struct frame_pace {
	double looked, changed; /* times of the last look, and of the last one that saw something new (clock.h) */
	uint64_t accepted;      /* observations accepted up to the last look */
	uint32_t number;        /* of the run; 0: there was none */
};

/* Sets `rate` and `idle` of the moment, by the look `view`, which was made at `now`, and the looks before it. */
void frame_take_pace(struct frame_pace *pace, const struct live_view *view, double now, struct frame_moment *moment);

/* Prints the look as lines, none wider than size->columns, each with a newline; returns how many. */
unsigned frame_screen(FILE *stream, const struct live_view *view, const struct frame_moment *moment,
                      const struct terminal_size *size);

/* Prints the look as one line. */
void frame_line(FILE *stream, const struct live_view *view, const struct frame_moment *moment);

/* Writes the look as an object, which is the whole JSON document. */
void frame_json(struct report *report, const struct live_view *view, const struct frame_moment *moment);

/* Lists warnings about the run's recording, each of one line; returns how many. */
#define FRAME_WARNINGS 14
#define FRAME_WARNING_ROOM FINDING_ROOM
unsigned frame_warnings(const struct live_view *view, const struct frame_moment *moment,
                        char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM]);

#endif
