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
	const char *trouble; /* the last look failed, and why; NULL: it did not */
};

extern const char *const frame_states[]; /* by enum live_state, as users read them */

/* The pace of the recording, from look to look. Begins as {0}. */
struct frame_pace {
	double looked, changed; /* seconds, monotonic: the last look, and the last that saw something new */
	uint64_t accepted;      /* at the last look */
	uint32_t number;        /* of the run; 0: there was none */
};

/* Takes a look that was made `now`: sets the moment's rate and idle. */
void frame_take_pace(struct frame_pace *pace, const struct live_view *view, double now, struct frame_moment *moment);

/* Prints lines that each end with a newline, none longer than `columns` characters; returns how many. */
unsigned frame_screen(FILE *stream, const struct live_view *view, const struct frame_moment *moment,
                      const struct terminal_size *size);

/* Prints one line. */
void frame_line(FILE *stream, const struct live_view *view, const struct frame_moment *moment);

/* Writes an object, which is the document. */
void frame_json(struct report *report, const struct live_view *view, const struct frame_moment *moment);

/* Lists warnings about the run's recording, each of one line; returns how many. */
#define FRAME_WARNINGS 14
#define FRAME_WARNING_ROOM FINDING_ROOM
unsigned frame_warnings(const struct live_view *view, const struct frame_moment *moment,
                        char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM]);

#endif
