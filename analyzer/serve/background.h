/*
 * background.h: runs other commands of portolan for the live page, as child processes of this same program, and keeps
 * what they printed. The page's report and its list of suspects are made so: serve need not contain what a command
 * computes, a command that crashes takes nothing with it, and no request waits for one.
 *
 * One command runs at a time. It has the lowest priority, its own commands run one after another, and it is ended if it
 * takes too long, if its run is gone, or if the server ends. What it printed is kept with the version that a view of the
 * run had when it was started. When the run has grown since, a request starts the command again, but not before 9 times
 * as long as it took last: so it runs at most a tenth of the time. What it printed of a run that was overwritten is
 * forgotten. Safe from several threads.
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "open_stores.h"

#include "output/report.h"

struct background;

/* `stores` stays the caller's. NULL: out of memory. */
struct background *background_new(struct open_stores *stores);
void background_free(struct background *background); /* ends the command that runs; NULL: does nothing */

struct background_question {
	const char *const *words; /* the command, its options and operands; NULL ends them. It is asked for JSON. */
	const char *run;
	bool is_anew; /* make it again, even if nothing has changed */
};

/* Writes, as JSON, the state of the command and what it printed (README.md), and starts it if it is time. *is_made: its
 * answer, or why it has none, is there. PORTOLAN_E_MEMORY. */
int background_ask(struct background *background, const struct background_question *question, struct report *report,
                   bool *is_made, struct portolan_error *error);

#endif
